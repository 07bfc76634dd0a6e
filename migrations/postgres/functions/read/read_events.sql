-- A run's events after a number, in order: for clients, who may not read the tables. As many as `qty` and as 4 MiB of payloads,
-- and one at least while there are any. Calling it again with the last number seen misses nothing.
create or replace function pgflow.read_events(run_id uuid, after int default 0, qty int default 1000)
returns table (seq int, event_type text, step_slug text, payload jsonb, at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_event record;
  v_bytes bigint := 0;
  v_last int;
begin
  for v_event in
    select e.seq, e.event_type, e.step_slug
      from pgflow.events e
     where e.run_id = read_events.run_id and e.seq > coalesce(read_events.after, 0)
     order by e.seq
     limit read_events.qty
  loop
    v_bytes := v_bytes + pgflow._event_weight(read_events.run_id, v_event.event_type, v_event.step_slug);
    exit when v_last is not null and v_bytes > pgflow._event_bytes();
    v_last := v_event.seq;
  end loop;
  return query
    select e.seq, e.event_type, e.step_slug, e.payload, e.at
      from pgflow.events e
     where e.run_id = read_events.run_id and e.seq > coalesce(read_events.after, 0) and e.seq <= v_last
     order by e.seq
     -- Cuts nothing: with it, payloads are put together after the sort.
     limit read_events.qty;
end;
$$;
