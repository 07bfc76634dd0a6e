-- Whether this attempt still has its task: for a step whose own SQL shares the transaction that
-- completes it. Takes no lock, so that a long step holds up nobody; the completion looks again.
create or replace function pgflow.holds_task(run_id uuid, step_slug text, task_index int, attempt int)
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return exists (
    select from pgflow.step_tasks t
      join pgflow.step_states s on s.run_id = t.run_id and s.step_slug = t.step_slug
      join pgflow.runs r on r.run_id = t.run_id
     where t.run_id = holds_task.run_id and t.step_slug = holds_task.step_slug
       and t.task_index = holds_task.task_index and t.attempts_count = holds_task.attempt
       and t.status = 'started' and s.status = 'started' and r.status = 'started'
  );
end;
$$;
