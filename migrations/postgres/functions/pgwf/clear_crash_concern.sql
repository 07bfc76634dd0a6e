-- Lets a job be leased again whose leases ran out too often.
create or replace function pgwf.clear_crash_concern(p_job_id text, p_worker_id text, p_reason text default null) returns boolean
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
  v_is_cancelled boolean;
begin
  if p_job_id is null then
    raise exception 'job_id cannot be NULL';
  end if;
  if p_worker_id is null then
    raise exception 'worker_id cannot be NULL';
  end if;
  perform pgflow._lock_jobs(array[p_job_id]);
  v_is_cancelled := (select j.cancel_at is not null from pgflow.jobs j where j.id = p_job_id);
  if v_is_cancelled then
    raise exception 'job % is cancelled and cannot clear crash concern', p_job_id;
  elsif v_is_cancelled is null and exists (select from pgflow.job_archive a where a.id = p_job_id) then
    raise exception 'job_id % has already been archived and cannot clear crash concern', p_job_id;
  elsif v_is_cancelled is null then
    raise exception 'job_id % does not exist', p_job_id;
  end if;
  perform pgflow._count_lapses(array[p_job_id], p_worker_id);
  perform pgflow._clear_concern(array[p_job_id], p_worker_id, p_reason);
  perform pgflow._line_up(array_agg(j.key), array_agg(0)) from pgflow.jobs j where j.id = p_job_id and j.key is not null;
  return true;
end;
$$;
