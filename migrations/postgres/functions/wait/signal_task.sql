-- As signal, to the hook that a task waits for, whatever its token is. For a task that does not wait yet it is kept. `path` and
-- `message` say why it was rejected.
create or replace function pgflow.signal_task(
  inout run_id uuid, inout step_slug text, inout task_index int, payload jsonb, resume_id text default null,
  buffer_for interval default interval '7 days', out outcome text, out path text, out message text
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_variable
begin
  perform pgflow._check_signal(signal_task.payload, signal_task.resume_id, signal_task.buffer_for);
  select s.outcome, s.path, s.message into outcome, path, message
    from pgflow._signal_task(
      signal_task.run_id, signal_task.step_slug, signal_task.task_index, null, signal_task.payload, signal_task.resume_id,
      signal_task.buffer_for) s;
end;
$$;
