-- Forgets the streaks of live jobs that are not cancelled, and puts those in concern back in line. Returns their ids. The caller has
-- locked them and counted leases that had run out, and lines up their keys.
create or replace function pgflow._clear_concern(p_ids text[], p_worker text, p_reason text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_cleared record;
begin
  with cleared as (
    update pgflow.jobs j
       set streak = 0,
           state = case when o.state <> 'concern' then o.state
             when j.wake_at > v_now then 'sleeping' when j.key is not null then 'parked' else 'ready' end,
           wake_at = case when o.state = 'concern' then greatest(j.wake_at, v_now) else j.wake_at end
      from pgflow.jobs o
     where o.id = any (p_ids) and j.id = o.id and j.cancel_at is null
    returning j.id, j.need, j.state, o.state as before,
              jsonb_build_object('streak', o.streak, 'reason', left(p_reason, 1000)) as detail
  )
  select array_agg(c.id) as ids, array_agg(c.need) as needs, array_agg(c.detail) as details,
         array_agg(c.id) filter (where c.state = 'ready' and c.before <> 'ready') as ready,
         array_agg(c.need) filter (where c.state = 'ready' and c.before <> 'ready') as ready_needs
    into v_cleared from cleared c;
  perform pgflow._trace_jobs('cleared', v_cleared.ids, v_cleared.needs, null, p_worker, v_cleared.details);
  perform pgflow._announce_jobs(v_cleared.ready, v_cleared.ready_needs);
  return coalesce(v_cleared.ids, '{}');
end;
$$;
