-- As clients call it that know no payloads; a key replaces the job's. Without defaults: with them a call could mean this
-- one or the newer one.
create or replace function pgwf.reschedule_unheld_job(
  p_job_id text,
  p_worker_id text,
  p_next_need text,
  p_wait_for text[],
  p_singleton_key text,
  p_available_at timestamptz
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
    p_job_id, null, p_worker_id, p_next_need, p_wait_for, p_singleton_key, p_available_at, null, false);
end;
$$;
