-- A run's events after a number, in order: for clients, who may not read the tables. Calling it
-- again with the last number seen misses nothing.
create or replace function pgflow.read_events(run_id uuid, after int default 0, qty int default 1000)
returns table (seq int, event_type text, step_slug text, payload jsonb, at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select e.seq, e.event_type, e.step_slug, e.payload, e.at
      from pgflow.events e
     where e.run_id = read_events.run_id and e.seq > coalesce(read_events.after, 0)
     order by e.seq
     limit read_events.qty;
end;
$$;
