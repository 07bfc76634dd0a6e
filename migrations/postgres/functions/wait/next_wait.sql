-- In how many seconds the next wait of these flows is due, as far as that is near; null if it is not known. Looks at the front of an
-- index only.
create or replace function pgflow.next_wait(flow_slugs text[]) returns double precision
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  return (
    select greatest(extract(epoch from w.until - clock_timestamp()), 0)
      from (select w.flow_slug, w.until from pgflow.waits w where w.until is not null order by w.until limit 100) w
     where w.flow_slug = any (next_wait.flow_slugs)
     order by w.until limit 1);
end;
$$;
