-- Writes what somebody changed by hand of a job that the caller has locked, and puts it where it belongs then.
create or replace function pgwf._change_job(p_job pgflow.jobs, p_old pgwf.jobs, p_new pgwf.jobs) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_threshold int := (select s.crash_threshold from pgflow.job_settings s);
  -- What was lost in a row was lost in all, and in an attempt that does not count.
  v_streak int := p_new.consecutive_expirations;
  v_lapses int;
  v_more int;
  v_is_cancelled boolean := coalesce(p_new.cancel_requested, false);
  v_job pgflow.jobs;
begin
  if p_new.consecutive_expirations <> p_old.consecutive_expirations and v_streak >= v_threshold and p_job.state <> 'leased' then
    -- Published pgwf has not counted the last one.
    v_streak := v_streak + 1;
  end if;
  v_lapses := greatest(p_job.lapses, v_streak);
  v_more := greatest(v_lapses + p_job.failures - p_job.attempts, 0);
  update pgflow.jobs j
     set wake_at = n.wake_at, expires_at = n.expires_at, lease_until = n.lease_until, look_at = least(j.look_at, n.lease_until),
         streak = v_streak, lapses = v_lapses, attempts = j.attempts + v_more, forgiven = j.forgiven + v_more,
         worker = case when j.attempts + v_more > 0 then coalesce(j.worker, session_user::text) else j.worker end,
         cancel_at = n.cancel_at, cancel_by = n.cancel_by, cancel_reason = case when v_is_cancelled then j.cancel_reason end,
         state = case
           when j.state in ('leased', 'crashed') then j.state
           when v_is_cancelled then 'cancelled'
           when j.state = 'expired' and n.expires_at <= v_now then 'expired'
           when j.waits > 0 then 'waiting'
           when v_streak > v_threshold then 'concern'
           when n.wake_at > v_now then 'sleeping'
           when j.key is not null then 'parked'
           else 'ready' end
    from (
      select case when p_new.available_at is distinct from p_old.available_at then pgwf._storable(p_new.available_at) else p_job.wake_at end as wake_at,
             nullif(pgwf._storable(p_new.expires_at), 'infinity') as expires_at,
             case when p_job.state = 'leased' then least(greatest(p_new.lease_expires_at, p_job.created_at), '9999-12-31') end as lease_until,
             case when v_is_cancelled then coalesce(greatest(p_new.cancel_requested_at, p_job.created_at), v_now) end as cancel_at,
             case when v_is_cancelled then coalesce(p_new.cancel_requested_by, session_user::text) end as cancel_by
    ) n
   where j.id = p_job.id
  returning j.* into v_job;
  if v_job.state = 'ready' and p_job.state <> 'ready' then
    perform pgflow._announce_jobs(array[v_job.id], array[v_job.need]);
  end if;
  if v_job.key is not null then
    perform pgflow._line_up(array[v_job.key], array[0]);
  end if;
end;
$$;
