-- Trigger: tasks no longer name workers that were deleted. Done here, once per statement, instead
-- of by a foreign key that would be checked for every claimed task.
create or replace function pgflow._forget_workers() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update pgflow.step_tasks t set last_worker_id = null
    from gone where t.last_worker_id = gone.worker_id;
  return null;
end;
$$;
