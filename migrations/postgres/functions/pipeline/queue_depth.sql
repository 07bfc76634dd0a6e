-- How many messages of a queue are ready, asleep or in line for their keys, counted up to `most`: for producers that wait while it is too
-- deep.
create or replace function pgflow.queue_depth(need text, most bigint) returns bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  return least(most,
    (select count(*) from (select from pgflow.jobs j where j.state = 'ready' and j.need = queue_depth.need limit most) r)
    + (select count(*) from (select from pgflow.jobs j where j.state = 'sleeping' and j.need = queue_depth.need limit most) s)
    + (select count(*) from (select from pgflow.jobs j where j.state = 'parked' and j.need || '' = queue_depth.need limit most) p));
end;
$$;
