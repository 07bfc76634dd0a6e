-- Fails one attempt of a task: it is tried again, or its step ends. Returns the task's row.
create or replace function pgflow.fail_task(
  run_id uuid,
  step_slug text,
  task_index int,
  error_message text,
  attempt int default null
) returns setof pgflow.step_tasks
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform pgflow.fail_tasks(
    array[fail_task.run_id], array[fail_task.step_slug], array[fail_task.task_index],
    array[fail_task.error_message], array[fail_task.attempt]
  );
  return query select t.* from pgflow.step_tasks t
    where t.run_id = fail_task.run_id and t.step_slug = fail_task.step_slug
      and t.task_index = fail_task.task_index;
end;
$$;
