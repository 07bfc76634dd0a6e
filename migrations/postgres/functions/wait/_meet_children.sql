-- Completes a task whose children have all ended, or fails its attempt if that is more than a step may put out, or what it cannot read.
create or replace function pgflow._meet_children(wait pgflow.waits) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_output jsonb := pgflow._output_of_children(wait);
  v_unread text := pgflow._why_unread(wait, v_output);
begin
  if v_unread is not null then
    perform pgflow._fail_wait(wait.run_id, wait.step_slug, wait.task_index, v_unread, 'step:woken');
    return;
  end if;
  perform pgflow._check_payload(v_output, format('the output of task %s of step %s', wait.task_index, wait.step_slug));
  perform pgflow._meet_wait(wait.run_id, wait.step_slug, wait.task_index, v_output, 'step:woken');
exception when program_limit_exceeded then
  perform pgflow._fail_wait(wait.run_id, wait.step_slug, wait.task_index, format('cannot store what it waited for: %s', sqlerrm), 'step:woken');
end;
$$;
