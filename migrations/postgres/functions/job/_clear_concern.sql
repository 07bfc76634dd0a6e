-- Forgets the streaks of live jobs that are not cancelled, and puts those in concern back in line. Returns their ids. A
-- lease that has run out unnoticed is counted first, so that it is not counted again.
create or replace function pgflow._clear_concern(p_ids text[], p_worker text, p_reason text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_cleared record;
begin
  perform from pgflow.jobs j where j.id = any (p_ids) order by j.id for no key update;
  with cleared as (
    update pgflow.jobs j
       set streak = 0, lapses = j.lapses + i.lapsed::int,
           state = case when o.state <> 'concern' and not i.lapsed then o.state
             when j.attempts - j.forgiven >= j.max_attempts and i.lapsed then 'crashed'
             when j.wake_at > v_now then 'sleeping' when j.key is not null then 'parked' else 'ready' end,
           wake_at = case when o.state = 'concern' or i.lapsed then greatest(j.wake_at, v_now) else j.wake_at end,
           token = case when not i.lapsed then j.token end, lease_until = case when not i.lapsed then j.lease_until end,
           look_at = case when not i.lapsed then j.look_at end
      from pgflow.jobs o
      cross join lateral (select o.state = 'leased' and o.lease_until <= v_now as lapsed) i
     where o.id = any (p_ids) and j.id = o.id and j.cancel_at is null
    returning j.id, j.need, j.key, j.state, o.state as before,
              jsonb_build_object('streak', o.streak, 'reason', left(p_reason, 1000)) as detail
  )
  select array_agg(c.id) as ids, array_agg(c.need) as needs, array_agg(c.detail) as details,
         array_agg(c.id) filter (where c.state = 'ready' and c.before <> 'ready') as ready,
         array_agg(c.need) filter (where c.state = 'ready' and c.before <> 'ready') as ready_needs,
         array_agg(c.key) filter (where c.key is not null and c.state <> c.before) as keys
    into v_cleared from cleared c;
  perform pgflow._trace_jobs('cleared', v_cleared.ids, v_cleared.needs, null, p_worker, v_cleared.details);
  perform pgflow._announce_jobs(v_cleared.ready, v_cleared.ready_needs);
  perform pgflow._line_up(v_cleared.keys, array_fill(0, array[coalesce(cardinality(v_cleared.keys), 0)]));
  return coalesce(v_cleared.ids, '{}');
end;
$$;
