-- The first event of a run.
create or replace function pgflow._record_run_started(run_id uuid) returns void
language sql
set search_path = ''
as $$
  insert into pgflow.events (run_id, seq, event_type, payload)
  select r.run_id, 1, 'run:started', jsonb_build_object(
    'event_type', 'run:started', 'run_id', r.run_id, 'flow_slug', r.flow_slug, 'input', r.input,
    'status', r.status, 'remaining_steps', r.remaining_steps, 'started_at', r.started_at
  )
  from pgflow.runs r
  where r.run_id = _record_run_started.run_id and r.record_events
$$;
