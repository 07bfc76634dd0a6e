-- Fails the attempt of a task that waited, as fail_tasks does. Its message was archived when it began to wait, so it gets another
-- one. The caller holds its step and run, and archives the dead messages of the run.
create or replace function pgflow._fail_wait(run_id uuid, step_slug text, task_index int, error text, word text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_runs uuid[] := array[_fail_wait.run_id];
  v_steps text[] := array[_fail_wait.step_slug];
  v_indexes int[] := array[_fail_wait.task_index];
  v_task pgflow.step_tasks;
  v_exhausted uuid[];
  v_applied int[];
begin
  perform pgflow._close_waits(v_runs, v_steps, v_indexes, format('parent run %s no longer waits for it', _fail_wait.run_id));
  update pgflow.step_tasks t
     set status = 'started',
         message_id = (
           select s.id from pgmq.send(t.flow_slug, jsonb_build_object(
             'flow_slug', t.flow_slug, 'run_id', t.run_id, 'step_slug', t.step_slug, 'task_index', t.task_index)) s(id))
   where t.run_id = _fail_wait.run_id and t.step_slug = _fail_wait.step_slug and t.task_index = _fail_wait.task_index
     and t.status = 'waiting'
  returning t.* into v_task;
  perform pgflow._log_waits(v_runs, v_steps, v_indexes, array[_fail_wait.word]);
  v_exhausted := pgflow._exhausted_runs(v_runs, v_steps, v_indexes, array[v_task.attempts_count], array[false]);
  v_applied := pgflow._fail_work(
    v_runs, v_steps, v_indexes, array[_fail_wait.error], array[v_task.attempts_count], array[false], v_exhausted);
  -- Nobody else knows this message yet, so that its lock is waited for by nobody.
  if v_exhausted is null then
    perform pgflow.set_vt_batch(d.flow_slug, array[d.message_id], array[d.delay])
       from pgflow._retry_delays(v_runs, v_steps, v_indexes, array[v_task.attempts_count], null, v_applied) d;
  else
    perform pgflow._archive_messages(array[v_task.flow_slug], array[v_task.message_id]);
  end if;
end;
$$;
