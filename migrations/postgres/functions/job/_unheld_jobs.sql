-- Locks jobs that an operator may change without a lease, with all that their end may concern, and returns their ids: ready
-- ones, also if they have to wait for their key or have expired, and those in concern. A lease that ran out counts as none,
-- and is counted.
create or replace function pgflow._unheld_jobs(p_ids text[], p_worker text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_lapsed record;
begin
  perform pgflow._lock_jobs(p_ids);
  with lapsed as (
    -- The key stays its own until the caller has lined it up.
    update pgflow.jobs j
       set state = case when j.key is null then 'ready' else 'parked' end, lapses = j.lapses + 1, streak = j.streak + 1,
           token = null, lease_until = null, look_at = null
      from pgflow.jobs o
     where o.id = any (p_ids) and j.id = o.id and o.state = 'leased' and o.lease_until <= v_now and o.cancel_at is null
    returning j.id, j.need, o.token, jsonb_build_object(
      'until', o.lease_until, 'by', j.worker, 'lapses', j.lapses, 'streak', j.streak, 'state', j.state) as detail
  )
  select array_agg(l.id) as ids, array_agg(l.need) as needs, array_agg(l.token) as tokens, array_agg(l.detail) as details
    into v_lapsed from lapsed l;
  perform pgflow._trace_jobs('lapsed', v_lapsed.ids, v_lapsed.needs, v_lapsed.tokens, p_worker, v_lapsed.details);
  return array(
    select j.id from pgflow.jobs j
     where j.id = any (p_ids)
       and (j.state in ('ready', 'parked', 'concern') or (j.state = 'sleeping' and j.wake_at <= v_now)
            or (j.state = 'expired' and j.waits = 0 and coalesce(j.wake_at <= v_now, true))));
end;
$$;
