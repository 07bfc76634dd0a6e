-- Appends events of one type to the logs of runs, in the order given. The caller holds each run's lock (or has just
-- inserted it), so that numbers are dense and a reader never sees one before those below it.
create or replace function pgflow._record_events(
  event_type text,
  run_ids uuid[],
  step_slugs text[],
  payloads jsonb[]
) returns void
language sql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
  insert into pgflow.events (run_id, seq, event_type, step_slug, payload)
  select
    e.run_id,
    coalesce((select max(p.seq) from pgflow.events p where p.run_id = e.run_id), 0)
      + row_number() over (partition by e.run_id order by e.n),
    _record_events.event_type,
    e.step_slug,
    jsonb_build_object('event_type', _record_events.event_type, 'run_id', e.run_id) || e.payload
  from unnest(run_ids, step_slugs, payloads) with ordinality e(run_id, step_slug, payload, n)
  join pgflow.runs r on r.run_id = e.run_id and r.record_events
$$;
