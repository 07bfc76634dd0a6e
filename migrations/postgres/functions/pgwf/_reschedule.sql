-- What all forms of reschedule_job and reschedule_unheld_job do, once they know that they may: `held` with a lease.
create or replace function pgwf._reschedule(
  p_job_id text,
  p_lease_id text,
  p_worker_id text,
  p_next_need text,
  p_wait_for text[],
  p_singleton_key text,
  p_available_at timestamptz,
  p_payload jsonb,
  p_held boolean
) returns table (job_id text, next_need text, wait_for text[], available_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_available timestamptz := coalesce(pgwf._storable(p_available_at), clock_timestamp());
  v_wait_for text[];
  v_number int;
  v_kinds text[];
  v_ends text[];
  v_job pgflow.jobs;
begin
  if p_job_id is null then
    raise exception 'job_id cannot be NULL';
  end if;
  perform pgwf._check_may_change(p_job_id, p_lease_id, p_held, 'reschedule');
  v_wait_for := pgwf.normalize_wait_for(p_wait_for);
  if p_payload is not null then
    perform pgwf._check_object(p_payload);
  end if;
  perform pgwf._refuse_null(p_next_need, 'next_need', 'jobs'), pgwf._refuse_null(p_worker_id, 'worker_id', 'jobs_trace');
  v_number := cardinality(v_wait_for);
  v_kinds := array_fill('job'::text, array[v_number]);
  v_ends := pgflow._lock_dependencies(v_kinds, v_wait_for, array[p_job_id], null, p_may_end => not p_held);
  -- Somebody else may have been quicker.
  if p_held then
    perform pgwf._check_may_change(p_job_id, p_lease_id, true, 'reschedule');
  elsif pgflow._unheld_jobs(array[p_job_id], p_worker_id) = '{}' then
    raise exception 'job % is not available to reschedule', p_job_id;
  end if;
  select j.* into v_job from pgflow.jobs j where j.id = p_job_id;
  perform pgflow._move_jobs(
    array[p_job_id], array[p_next_need], array[p_payload], array[p_singleton_key], array[v_available], array[v_job.max_attempts],
    array_fill(p_job_id, array[v_number]), v_kinds, v_wait_for, null, v_ends, p_worker_id,
    array[jsonb_strip_nulls(jsonb_build_object(
      'from', v_job.need, 'previous_available_at', coalesce(v_job.wake_at, v_job.created_at), 'available_at', v_available,
      'expires_at', v_job.expires_at, 'wait_for', case when v_number > 0 then to_jsonb(v_wait_for) end))]);
  return query select p_job_id, p_next_need, v_wait_for, v_available;
end;
$$;
