-- What has to happen before a claim looks: leases of its needs that ran out, sleepers whose moment has come, jobs whose time is over,
-- keys to look at again. Four looks at the front of an index when there is nothing to do.
create or replace function pgflow._tidy_line(p_now timestamptz, p_needs text[], p_worker text, p_detail jsonb default null) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_due record;
begin
  select exists (select from pgflow.jobs j where j.state = 'leased' and j.look_at <= p_now and j.need = any (p_needs)) as lapsed,
         exists (select from pgflow.jobs j where j.state = 'sleeping' and j.wake_at <= p_now) as awake,
         exists (select from pgflow.jobs j where j.expires_at <= p_now
                  and j.state in ('ready', 'sleeping', 'waiting', 'parked', 'concern')) as expired,
         exists (select from pgflow.job_keys k where k.look) as unsure
    into v_due;
  if v_due.lapsed then
    -- Who calls through pgwf archives what was cancelled at a time of its own.
    if p_detail is null then
      perform pgflow._end_due(p_now, 1000, p_worker, array['crashed', 'cancelled'], false, p_needs);
    end if;
    perform pgflow._return_lapsed(p_now, 1000, p_worker, p_detail, p_needs);
  end if;
  if v_due.awake then
    perform pgflow._wake_sleepers(p_now, 1000);
  end if;
  if v_due.expired then
    perform pgflow._mark_expired(p_now, 1000);
  end if;
  if v_due.unsure then
    perform pgflow._look_again(100);
  end if;
end;
$$;
