-- By position with nothing but bare literals: a moment, or, from older clients, a key.
create or replace function pgwf.reschedule_unheld_job(text, text, text, text[], text) returns table (job_id text, next_need text, wait_for text[], available_at timestamptz)
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
  if pgwf._is_moment($5) is false then
    return query select * from pgwf._reschedule($1, null, $2, $3, $4, $5, null, null, false);
  else
    return query select * from pgwf._reschedule($1, null, $2, $3, $4, null, $5::timestamptz, null, false);
  end if;
end;
$$;
