-- Lets a task go on if what it waits for has happened ('woken'), or fails its attempt if it has waited too long ('timed_out'); null if
-- it waits on, or no longer. The caller holds its step and run, and archives the dead messages of the run.
create or replace function pgflow._wake_one(run_id uuid, step_slug text, task_index int) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_wait pgflow.waits;
begin
  select w.* into v_wait from pgflow.waits w
   where w.run_id = _wake_one.run_id and w.step_slug = _wake_one.step_slug and w.task_index = _wake_one.task_index;
  if v_wait.has_failed and not v_wait.outcomes then
    perform pgflow._fail_wait(v_wait.run_id, v_wait.step_slug, v_wait.task_index, (
      select pgflow._child_sentence(a.kind, a.child, a.ended, a.error) from pgflow.awaited a
       where a.run_id = v_wait.run_id and a.step_slug = v_wait.step_slug and a.task_index = v_wait.task_index
         and a.attempt = v_wait.attempt and a.ended <> 'completed'
       order by a.place limit 1), 'step:woken');
    return 'woken';
  elsif v_wait.kind in ('runs', 'jobs') and v_wait.open_children = 0 then
    perform pgflow._meet_children(v_wait);
    return 'woken';
  elsif v_wait.kind = 'sleep' and v_wait.until <= clock_timestamp() then
    perform pgflow._meet_wait(v_wait.run_id, v_wait.step_slug, v_wait.task_index, 'null', 'step:woken');
    return 'woken';
  elsif v_wait.until <= clock_timestamp() then
    perform pgflow._fail_wait(
      v_wait.run_id, v_wait.step_slug, v_wait.task_index,
      format('nobody answered within %s s', round(extract(epoch from v_wait.until - v_wait.since))), 'step:wait_timed_out');
    return 'timed_out';
  end if;
  return null;
end;
$$;
