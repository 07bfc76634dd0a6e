-- Submits a job.
create or replace function pgwf.submit_job(
  p_job_id text,
  p_worker_id text,
  p_next_need text,
  p_wait_for text[] default '{}',
  p_payload jsonb default '{}',
  p_singleton_key text default null,
  p_available_at timestamptz default clock_timestamp(),
  p_expires_at timestamptz default null
) returns table (job_id text, next_need text, wait_for text[], payload jsonb, available_at timestamptz)
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
  return query select * from pgwf._submit(
    p_job_id, p_worker_id, p_next_need, p_wait_for, p_payload, p_singleton_key, p_available_at, p_expires_at);
end;
$$;
