-- Ends a leased job as done.
create or replace function pgwf.complete_job(p_job_id text, p_lease_id text, p_worker_id text) returns boolean
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
  if p_job_id is null then
    raise exception 'job_id cannot be NULL';
  end if;
  perform pgwf._check_may_change(p_job_id, p_lease_id, true, 'complete');
  if p_worker_id is null then
    perform pgwf._refuse_null(p_worker_id, 'worker_id', 'jobs_trace');
  end if;
  perform pgflow._lock_jobs(array[p_job_id]);
  -- Somebody else may have been quicker.
  perform pgwf._check_may_change(p_job_id, p_lease_id, true, 'complete');
  perform pgflow._end_jobs(array[p_job_id], array['done'], null, null, p_worker_id);
  return true;
end;
$$;
