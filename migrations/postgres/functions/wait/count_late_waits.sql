-- How many tasks should have stopped waiting so long ago, and have not, counted up to `most`; and since when the first of them.
create or replace function pgflow.count_late_waits(late interval, most int default 1000)
returns table (waits bigint, late_since timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  return query
    select count(*), min(w.until)
      from (select l.until from pgflow.waits l
             where l.until <= clock_timestamp() - count_late_waits.late
             order by l.until limit count_late_waits.most) w;
end;
$$;
