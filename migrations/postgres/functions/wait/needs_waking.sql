-- Whether wake_waits or cancel_abandoned has something to do. Looks at the fronts of indexes only.
create or replace function pgflow.needs_waking() returns boolean
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
  return exists (select from pgflow.waits w where w.until <= clock_timestamp())
    or exists (select from pgflow.wait_ends)
    or exists (select from pgflow.awaited a where a.abandoned is not null)
    or exists (select from pgflow.signals s where s.expires_at <= clock_timestamp());
end;
$$;
