-- Hands a job over that nobody has leased.
create or replace function pgwf.reschedule_unheld_job(
  p_job_id text,
  p_worker_id text,
  p_next_need text,
  p_wait_for text[] default '{}',
  p_available_at timestamptz default clock_timestamp(),
  p_payload jsonb default null
) returns table (job_id text, next_need text, wait_for text[], available_at timestamptz)
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
  return query select * from pgwf._reschedule(
    p_job_id, null, p_worker_id, p_next_need, p_wait_for, null, p_available_at, p_payload, false);
end;
$$;
