-- By position with nothing but bare literals: payload, key and the moment from which on the job may run; or, from older clients,
-- key, that moment and the one after which it may not.
create or replace function pgwf.submit_job(text, text, text, text[], text, text, timestamptz) returns table (job_id text, next_need text, wait_for text[], payload jsonb, available_at timestamptz)
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
  if pgwf._means_older($5, $6) then
    return query select * from pgwf._submit($1, $2, $3, $4, null, $5, $6::timestamptz, $7);
  else
    return query select * from pgwf._submit($1, $2, $3, $4, $5::jsonb, $6, $7, null);
  end if;
end;
$$;
