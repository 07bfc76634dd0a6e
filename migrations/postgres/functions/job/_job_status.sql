-- The status of a live job that people are shown; the first that fits.
create or replace function pgflow._job_status(job pgflow.jobs, at timestamptz) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when job.id is null then null
    when job.lease_until > at then 'ACTIVE'
    when job.cancel_at is not null then 'CANCELLED'
    when job.wake_at > at then 'AWAITING_FUTURE'
    when job.waits > 0 then 'PENDING_JOBS'
    when job.state = 'concern' or (job.state in ('leased', 'expired')
      and job.streak >= (select s.crash_threshold + (job.state = 'expired')::int from pgflow.job_settings s)
      and pgflow._is_for_people(job.need, job.max_attempts)) then 'CRASH_CONCERN'
    when job.expires_at <= at then 'EXPIRED'
    else 'READY' end;
end;
$$;
