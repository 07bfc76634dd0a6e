-- What both generations of submit_job do.
create or replace function pgwf._submit(
  p_job_id text,
  p_worker_id text,
  p_next_need text,
  p_wait_for text[],
  p_payload jsonb,
  p_singleton_key text,
  p_available_at timestamptz,
  p_expires_at timestamptz
) returns table (job_id text, next_need text, wait_for text[], payload jsonb, available_at timestamptz)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_payload jsonb := coalesce(p_payload, '{}');
  v_now timestamptz := clock_timestamp();
  v_available timestamptz := coalesce(pgwf._storable(p_available_at), v_now);
  v_expires timestamptz := nullif(pgwf._storable(p_expires_at), 'infinity');
  v_wait_for text[] := '{}';
  v_number int := 0;
  v_detail jsonb;
begin
  if exists (select from pgflow.job_archive a where a.id = p_job_id) then
    raise exception 'job_id % has already completed and cannot be resubmitted', p_job_id;
  end if;
  if cardinality(p_wait_for) > 0 then
    v_wait_for := pgwf.normalize_wait_for(p_wait_for);
    v_number := cardinality(v_wait_for);
  end if;
  perform pgwf._check_object(v_payload);
  if num_nulls(p_job_id, p_next_need, p_worker_id) > 0 then
    perform pgwf._refuse_null(p_job_id, 'job_id', 'jobs'), pgwf._refuse_null(p_next_need, 'next_need', 'jobs'),
            pgwf._refuse_null(p_worker_id, 'worker_id', 'jobs_trace');
  end if;
  -- The default is a moment ago: then the job is as old as it is available, and that need not be said.
  if v_available between v_now - interval '10 ms' and v_now then
    v_now := v_available;
  end if;
  if v_number > 0 or v_available <> v_now or num_nonnulls(p_singleton_key, v_expires) > 0 then
    v_detail := jsonb_strip_nulls(jsonb_build_object(
      'singleton_key', p_singleton_key, 'available_at', nullif(v_available, v_now), 'expires_at', v_expires,
      'wait_for', case when v_number > 0 then to_jsonb(v_wait_for) end));
  end if;
  if cardinality(pgflow._submit_jobs(
    array[p_job_id], array[p_next_need], array[v_payload], null, case when p_singleton_key is not null then array[p_singleton_key] end,
    array[nullif(v_available, v_now)], array[v_expires], null,
    array_fill(1, array[v_number]), array_fill('job'::text, array[v_number]), v_wait_for, null, p_worker_id, array[v_detail],
    v_now, true)) = 0 then
    if exists (select from pgflow.job_archive a where a.id = p_job_id) then
      raise exception 'job_id % has already completed and cannot be resubmitted', p_job_id;
    end if;
    raise exception 'duplicate key value violates unique constraint "jobs_pkey"'
      using errcode = 'unique_violation', detail = format('Key (job_id)=(%s) already exists.', p_job_id),
            schema = 'pgwf', table = 'jobs', constraint = 'jobs_pkey';
  end if;
  return query select p_job_id, p_next_need, v_wait_for, v_payload, v_available;
end;
$$;
