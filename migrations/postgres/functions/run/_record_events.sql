-- Appends events to the logs of runs, in the order given: words such as 'step:started fetch', and
-- what their payloads need besides the state. The caller holds each run's lock (or has just
-- inserted it), so that numbers are dense and no reader sees one before those below it.
create or replace function pgflow._record_events(run_ids uuid[], events text[], details jsonb[] default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  insert into pgflow.event_log (run_id, last_seq, events, details)
  select
    e.run_id,
    coalesce((select max(p.last_seq) from pgflow.event_log p where p.run_id = e.run_id), 0) + cardinality(e.events),
    e.events,
    e.details
  from (
    select e.run_id, array_agg(e.event order by e.n) as events,
           case when _record_events.details is not null then array_agg(e.detail order by e.n) end as details
      from unnest(run_ids, events, details) with ordinality e(run_id, event, detail, n)
     group by e.run_id
  ) e
  where (select r.record_events from pgflow.runs r where r.run_id = e.run_id);
end;
$$;
