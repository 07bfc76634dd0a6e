-- Completes one task; returns its row, or none if there is no such task.
create or replace function pgflow.complete_task(
  run_id uuid,
  step_slug text,
  task_index int,
  output jsonb,
  attempt int default null
) returns setof pgflow.step_tasks
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
begin
  perform pgflow.complete_tasks(
    array[complete_task.run_id], array[complete_task.step_slug], array[complete_task.task_index],
    array[complete_task.output], array[complete_task.attempt]
  );
  return query select t.* from pgflow.step_tasks t
    where t.run_id = complete_task.run_id and t.step_slug = complete_task.step_slug
      and t.task_index = complete_task.task_index;
end;
$$;
