-- Deletes up to `max_streams` streams of their own whose time is over, and returns how many. Waits for nobody.
create or replace function pgflow.prune_streams(max_streams int default 1000) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_ids bigint[];
begin
  v_ids := array(
    select s.id from pgflow.streams s
     where s.expires_at <= clock_timestamp()
     order by s.expires_at limit prune_streams.max_streams for update skip locked);
  perform pgflow._delete_streams(v_ids);
  return cardinality(v_ids);
end;
$$;
