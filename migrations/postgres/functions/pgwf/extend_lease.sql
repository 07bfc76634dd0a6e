-- Lets a lease last so many seconds from now, and returns until when.
create or replace function pgwf.extend_lease(
  p_job_id text,
  p_lease_id text,
  p_worker_id text,
  p_additional_seconds integer default 60
) returns timestamptz
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
  v_until timestamptz;
begin
  if coalesce(p_additional_seconds, 0) <= 0 then
    raise exception 'additional_seconds must be positive';
  end if;
  if p_job_id is null then
    raise exception 'job_id cannot be NULL';
  end if;
  -- Without a lock first: who lost the lease waits for nobody.
  if exists (select from pgflow.jobs j where j.id = p_job_id and j.lease_until > clock_timestamp()) then
    select j.* into v_job from pgflow.jobs j where j.id = p_job_id and j.token::text = p_lease_id for no key update;
  end if;
  if v_job.id is null or v_job.lease_until <= clock_timestamp() then
    raise exception 'active lease not found for job %', p_job_id;
  end if;
  if v_job.cancel_at is not null then
    raise exception 'job % is cancelled and cannot extend the lease', p_job_id;
  end if;
  perform pgwf._refuse_null(p_worker_id, 'worker_id', 'jobs_trace');
  v_until := clock_timestamp() + make_interval(secs => p_additional_seconds);
  -- As beat_jobs does.
  update pgflow.jobs j
     set lease_until = v_until,
         look_at = case when j.look_at between clock_timestamp() + make_interval(secs => p_additional_seconds / 3.0) and v_until
                        then j.look_at else v_until end
   where j.id = p_job_id;
  perform pgflow._trace_jobs('extended', array[v_job.id], array[v_job.need], array[v_job.token], p_worker_id, array[jsonb_build_object(
    'seconds', p_additional_seconds, 'previous', v_job.lease_until, 'until', v_until)]);
  return v_until;
end;
$$;
