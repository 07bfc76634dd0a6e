-- By position with nothing but bare literals: a payload, or, from older clients, a key.
create or replace function pgwf.submit_job(text, text, text, text[], text) returns table (job_id text, next_need text, wait_for text[], payload jsonb, available_at timestamptz)
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
  if pgwf._means_older($5, null) then
    return query select * from pgwf._submit($1, $2, $3, $4, null, $5, null, null);
  else
    return query select * from pgwf._submit($1, $2, $3, $4, $5::jsonb, null, null, null);
  end if;
end;
$$;
