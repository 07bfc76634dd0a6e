-- Notes that a job is to be cancelled. It stays until archive_cancelled_jobs or a sweep takes it away.
create or replace function pgwf.cancel_job(p_job_id text, p_worker_id text, p_reason text default null) returns pgwf.jobs
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
  v_job pgflow.jobs;
  v_row pgwf.jobs;
begin
  if p_job_id is null then
    raise exception 'job_id cannot be NULL';
  end if;
  if p_worker_id is null then
    raise exception 'worker_id cannot be NULL';
  end if;
  select j.* into v_job from pgflow.jobs j where j.id = p_job_id for no key update;
  if not found then
    if exists (select from pgflow.job_archive a where a.id = p_job_id) then
      raise exception 'job_id % has already completed and cannot be cancelled', p_job_id;
    end if;
    raise exception 'job_id % does not exist', p_job_id;
  end if;
  if v_job.cancel_at is null then
    perform pgflow._request_cancel(array[p_job_id], p_worker_id, p_reason);
    if v_job.key is not null and v_job.state <> 'leased' then
      perform pgflow._line_up(array[v_job.key], array[0]);
    end if;
  else
    perform pgflow._trace_jobs('cancel_asked', array[p_job_id], array[v_job.need], array[v_job.token], p_worker_id,
      array[jsonb_build_object('reason', p_reason, 'was_active', v_job.lease_until is not null and v_job.lease_until > clock_timestamp(),
                               'already_cancelled', true)]);
  end if;
  select w.* into v_row from pgwf.jobs w where w.job_id = p_job_id;
  return v_row;
end;
$$;
