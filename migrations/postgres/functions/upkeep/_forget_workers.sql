-- Trigger: tasks no longer name workers that were deleted. Done here, once per statement, instead
-- of by a foreign key that would be checked for every claimed task. Tasks are locked in the order
-- that everybody keeps.
create or replace function pgflow._forget_workers() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update pgflow.step_tasks t set last_worker_id = null
    from (
      select k.run_id, k.step_slug, k.task_index
        from gone join pgflow.step_tasks k on k.last_worker_id = gone.worker_id
       order by k.run_id, k.step_slug, k.task_index
         for no key update of k
    ) k
   where t.run_id = k.run_id and t.step_slug = k.step_slug and t.task_index = k.task_index;
  return null;
end;
$$;
