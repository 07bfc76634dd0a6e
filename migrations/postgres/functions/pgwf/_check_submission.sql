-- Refuses what is no submission: an archived id, unknown jobs to wait for, a payload that is none, nulls; in this order. Returns what is
-- left to wait for.
create or replace function pgwf._check_submission(
  p_job_id text,
  p_worker_id text,
  p_next_need text,
  p_wait_for text[],
  p_payload jsonb
) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wait_for text[];
begin
  if exists (select from pgflow.job_archive a where a.id = p_job_id) then
    raise exception 'job_id % has already completed and cannot be resubmitted', p_job_id;
  end if;
  v_wait_for := pgwf.normalize_wait_for(p_wait_for);
  perform pgwf._check_object(p_payload);
  perform pgwf._refuse_null(p_job_id, 'job_id', 'jobs'), pgwf._refuse_null(p_next_need, 'next_need', 'jobs'),
          pgwf._refuse_null(p_worker_id, 'worker_id', 'jobs_trace');
  return v_wait_for;
end;
$$;
