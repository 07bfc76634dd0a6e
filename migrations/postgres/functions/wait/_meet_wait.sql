-- Completes a task with what it waited for, as complete_tasks does. The caller holds its step and run, and archives the dead
-- messages of the run.
create or replace function pgflow._meet_wait(run_id uuid, step_slug text, task_index int, output jsonb, word text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_attempt int;
begin
  perform pgflow._close_waits(
    array[_meet_wait.run_id], array[_meet_wait.step_slug], array[_meet_wait.task_index],
    format('parent run %s no longer waits for it', _meet_wait.run_id));
  update pgflow.step_tasks t set status = 'started'
   where t.run_id = _meet_wait.run_id and t.step_slug = _meet_wait.step_slug and t.task_index = _meet_wait.task_index
     and t.status = 'waiting'
  returning t.attempts_count into v_attempt;
  perform pgflow._log_waits(
    array[_meet_wait.run_id], array[_meet_wait.step_slug], array[_meet_wait.task_index], array[_meet_wait.word]);
  perform pgflow._complete_work(
    array[_meet_wait.run_id], array[_meet_wait.step_slug], array[_meet_wait.task_index], array[_meet_wait.output],
    array[v_attempt], true);
end;
$$;
