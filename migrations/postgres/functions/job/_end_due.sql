-- Ends up to `limit` jobs that are due to, the first in line first: marked as expired, crashed or cancelled; past their expiry; or with a lease that
-- ran out in the last attempt, or after they were to be cancelled. `states` says which of those. Returns their ids, and how many
-- leases had run out; only those of `needs`, if there are any. Unless it may `wait` for whoever holds a waiter or a key, it leaves all of them.
create or replace function pgflow._end_due(p_now timestamptz, p_limit int, p_worker text, p_states text[], p_wait boolean default true, p_needs text[] default null)
returns table (ids text[], lapsed int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- What somebody holds is left out: these wait in line with whoever else ends them.
  v_ids text[] := pgflow._free_to_end(p_now, p_limit, p_states, p_needs);
  v_lapsed record;
  v_ended record;
begin
  if v_ids = '{}' then
    return query select v_ids, 0;
    return;
  end if;
  if p_wait then
    perform pgflow._lock_jobs(v_ids);
  elsif not pgflow._lock_jobs_at_once(pgflow._concerned_jobs(v_ids)) then
    return query select '{}'::text[], 0;
    return;
  end if;
  with lapsed as (
    update pgflow.jobs j
       set state = case when j.cancel_at is not null then 'cancelled' else 'crashed' end,
           lapses = j.lapses + 1, streak = j.streak + 1, token = null, lease_until = null, look_at = null
      from unnest(v_ids) i(id)
      cross join lateral (select o.ctid as place, o.* from pgflow.jobs o where o.id = i.id offset 0) o
     where j.ctid = o.place and o.state = 'leased' and o.lease_until <= p_now
       and (o.cancel_at is not null or o.attempts - o.forgiven >= o.max_attempts)
    returning j.id, j.need, o.token, jsonb_build_object(
      'until', o.lease_until, 'by', j.worker, 'lapses', j.lapses, 'streak', j.streak, 'state', j.state) as detail
  )
  select array_agg(l.id) as ids, array_agg(l.need) as needs, array_agg(l.token) as tokens, array_agg(l.detail) as details
    into v_lapsed from lapsed l;
  perform pgflow._trace_jobs('lapsed', v_lapsed.ids, v_lapsed.needs, v_lapsed.tokens, p_worker, v_lapsed.details);
  select array_agg(j.id order by j.seq) as ids,
         array_agg(case when j.state in ('crashed', 'cancelled') then j.state else 'expired' end order by j.seq) as outcomes
    into v_ended
    from pgflow.jobs j
   where j.id = any (v_ids) and j.state <> 'leased'
     and (j.state in ('expired', 'crashed', 'cancelled') or j.expires_at <= p_now);
  perform pgflow._end_jobs(v_ended.ids, v_ended.outcomes, null, null, p_worker);
  return query select coalesce(v_ended.ids, '{}'), coalesce(cardinality(v_lapsed.ids), 0);
end;
$$;
