-- What an event says, from the state it left behind. Outputs and inputs never change once they are
-- there, so that they need no second copy in the log.
create or replace function pgflow._event_payload(
  event_type text,
  run pgflow.runs,
  step pgflow.step_states
) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  case _event_payload.event_type
    when 'run:started' then
      return jsonb_build_object(
        'flow_slug', run.flow_slug, 'status', 'started', 'input', run.input, 'started_at', run.started_at,
        'remaining_steps', (select count(*) from pgflow.step_states s where s.run_id = run.run_id));
    when 'run:completed' then
      return jsonb_build_object(
        'flow_slug', run.flow_slug, 'status', 'completed', 'output', run.output, 'completed_at', run.completed_at);
    when 'run:failed' then
      return jsonb_build_object('flow_slug', run.flow_slug, 'status', 'failed');
    when 'run:retried' then
      return jsonb_build_object('flow_slug', run.flow_slug, 'status', 'started');
    when 'run:cancelled' then
      return jsonb_build_object('flow_slug', run.flow_slug, 'status', 'cancelled', 'cancelled_at', run.cancelled_at);
    when 'step:started' then
      return jsonb_build_object(
        'step_slug', step.step_slug, 'status', 'started', 'started_at', step.started_at,
        'remaining_tasks', step.initial_tasks, 'remaining_deps', 0);
    when 'step:completed' then
      return jsonb_build_object(
        'step_slug', step.step_slug, 'status', 'completed', 'output', step.output, 'completed_at', step.completed_at)
        || case when step.initial_tasks = 0 then jsonb_build_object('started_at', step.started_at) else '{}' end;
    when 'step:failed' then
      return jsonb_build_object('step_slug', step.step_slug, 'status', 'failed');
    when 'step:skipped' then
      return jsonb_build_object('step_slug', step.step_slug, 'status', 'skipped', 'skipped_at', step.skipped_at);
    when 'step:waiting', 'step:signalled', 'step:signal_dropped', 'step:woken', 'step:wait_timed_out' then
      -- The rest is in the details: it is about a task.
      return jsonb_build_object('step_slug', step.step_slug);
    else
      -- What nobody knows hides no other event; check() tells of it.
      return '{}';
  end case;
end;
$$;
