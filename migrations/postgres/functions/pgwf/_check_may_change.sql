-- Refuses to reschedule or complete a job that this lease does not open, or that is not to be had without one.
create or replace function pgwf._check_may_change(p_job_id text, p_lease_id text, p_held boolean, p_doing text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job record;
begin
  select j.cancel_at, j.lease_until, w.status into v_job
    from pgflow.jobs j cross join lateral (select pgflow._job_status(j, clock_timestamp()) as status) w
   where j.id = p_job_id and (not p_held or j.token::text = p_lease_id);
  if p_held and (not found or v_job.status <> 'ACTIVE') then
    if p_doing = 'reschedule' then
      raise exception 'job % is not currently leased with lease %', p_job_id, p_lease_id;
    end if;
    raise exception 'job % is not actively leased by %', p_job_id, p_lease_id;
  end if;
  if p_held and p_doing = 'reschedule' and v_job.cancel_at is not null then
    raise exception 'job % is cancelled and cannot be rescheduled', p_job_id;
  end if;
  if not p_held and coalesce(v_job.status, '') not in ('READY', 'CRASH_CONCERN', 'EXPIRED') then
    raise exception 'job % is not available to %', p_job_id, p_doing;
  end if;
end;
$$;
