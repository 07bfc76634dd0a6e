-- As clients call it by position that know no payloads. By name they call the newer one: so there are no names here, and no
-- defaults, with which a call could mean either.
create or replace function pgwf.submit_job(text, text, text, text[], text, timestamptz, timestamptz) returns table (job_id text, next_need text, wait_for text[], payload jsonb, available_at timestamptz)
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
  return query select * from pgwf._submit($1, $2, $3, $4, null, $5, $6, $7);
end;
$$;
