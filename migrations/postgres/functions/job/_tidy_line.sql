-- What has to happen before a claim of `limit` jobs looks: leases of its needs that ran out and sleepers whose moment has come are brought
-- back, jobs in its way whose time is over taken out, keys looked at again, and who was not told that it need not wait any more is. Of other
-- needs only that, and whose lease ran out with a key that jobs of these wait for, because all of that is locked until the
-- claim's commit; and through pgwf, whose clients may take their time until then, no more than it may take. Workers count all lapses at
-- once. A few looks at the front of an index when there is nothing to do. Returns whether something was due.
create or replace function pgflow._tidy_line(p_now timestamptz, p_needs text[], p_limit int, p_worker text, p_detail jsonb default null) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_due record;
begin
  if exists (select from pgflow.job_wakes) then
    perform pgflow._wake_again(100, p_worker, false);
  end if;
  if p_detail is null then
    p_limit := greatest(p_limit, 1000);
  end if;
  select exists (select from pgflow.jobs j
                  where j.state = 'leased' and j.need = any (p_needs) and j.look_at <= p_now and j.lease_until <= p_now) as lapsed,
         case when (select true from pgflow.jobs j
                     where j.state = 'leased' and j.key is not null and j.look_at <= p_now and j.lease_until <= p_now
                     order by j.look_at limit 1)
              then exists (select from pgflow._lapsed_holders(p_now, p_needs)) else false end as blocked,
         exists (select from pgflow.jobs j where j.state = 'sleeping' and j.need = any (p_needs) and j.wake_at <= p_now) as awake,
         exists (select from unnest(p_needs) n(need) cross join lateral (
           select from pgflow.jobs j where j.state = 'ready' and j.need = n.need and j.expires_at <= p_now order by j.expires_at limit 1) e) as expired,
         exists (select from pgflow.job_keys k where k.look) or exists (select from pgflow.job_key_notes) as unsure
    into v_due;
  if v_due.lapsed or v_due.awake or v_due.blocked then
    -- Who calls through pgwf archives what was cancelled at a time of its own.
    if v_due.lapsed and p_detail is null then
      perform pgflow._end_due(p_now, 1000, p_worker, array['crashed', 'cancelled'], false, p_needs);
    end if;
    perform pgflow._bring_back(p_now, p_needs, p_limit, p_worker, p_detail);
  end if;
  if v_due.expired then
    perform pgflow._mark_expired(p_now, p_needs, greatest(p_limit, 100));
  end if;
  -- What came back may have met a key that somebody has.
  if v_due.unsure or (v_due.lapsed or v_due.awake or v_due.blocked or v_due.expired)
     and (exists (select from pgflow.job_keys k where k.look) or exists (select from pgflow.job_key_notes)) then
    perform pgflow._look_again(100, p_needs);
  end if;
  -- Some are locked, also if none is taken.
  if v_due.lapsed or v_due.awake or v_due.blocked or v_due.expired or v_due.unsure then
    perform set_config('pgflow.holds_jobs', 'on', true);
  end if;
  return v_due.lapsed or v_due.awake or v_due.blocked;
end;
$$;
