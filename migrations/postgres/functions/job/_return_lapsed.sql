-- Takes back up to `limit` jobs whose lease has run out, and counts that, once per lease: back in line, aside if it
-- happened too often in a row (concern), or to the sweep if it is to end. Waits for nobody. Returns how many, and how many of
-- them are aside now. Only of `needs`, if there are any.
create or replace function pgflow._return_lapsed(p_now timestamptz, p_limit int, p_worker text, p_detail jsonb default null, p_needs text[] default null)
returns table (lapsed int, concerns int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_threshold int := (select s.crash_threshold from pgflow.job_settings s);
  v_ids text[];
  v_keys text[];
  v_locked text[];
  v_lapsed record;
begin
  -- A heartbeat does not move look_at, so most of those found here have only to be looked at later.
  with seen as materialized (
    select j.ctid as place, j.id, j.key, j.lease_until from pgflow.jobs j
     where j.state = 'leased' and j.look_at <= p_now and (p_needs is null or j.need = any (p_needs))
     order by j.look_at limit p_limit for no key update skip locked
  ), later as (
    update pgflow.jobs j set look_at = s.lease_until from seen s where j.ctid = s.place and s.lease_until > p_now
  )
  select array_agg(s.id), array_agg(s.key) filter (where s.key is not null) into v_ids, v_keys
    from seen s where s.lease_until <= p_now;
  if v_ids is null then
    return query select 0, 0;
    return;
  end if;
  v_locked := array(select k.key from pgflow.job_keys k where k.key = any (v_keys) order by k.key for update skip locked);
  with lapsed as (
    update pgflow.jobs j
       set state = case
             when j.cancel_at is not null then 'cancelled'
             when j.attempts - j.forgiven >= j.max_attempts then 'crashed'
             when j.streak >= v_threshold then 'concern'
             when j.wake_at > p_now then 'sleeping'
             when j.key is not null then 'parked'
             else 'ready' end,
           lapses = j.lapses + 1, streak = j.streak + 1, token = null, lease_until = null, look_at = null,
           wake_at = greatest(j.wake_at, p_now)
      from unnest(v_ids) i(id) join pgflow.jobs o on o.id = i.id
     where j.id = i.id and (j.key is null or j.key = any (v_locked))
    returning j.id, j.need, o.token, o.lease_until, o.worker, j.lapses, j.streak, j.state
  )
  select array_agg(l.id) as ids, array_agg(l.need) as needs, array_agg(l.token) as tokens,
         array_agg(coalesce(p_detail, '{}') || jsonb_build_object(
           'until', l.lease_until, 'by', l.worker, 'lapses', l.lapses, 'streak', l.streak, 'state', l.state)) as details,
         array_agg(l.id) filter (where l.state = 'concern') as aside,
         array_agg(l.need) filter (where l.state = 'concern') as aside_needs, count(*)::int as number
    into v_lapsed from lapsed l;
  perform pgflow._trace_jobs('lapsed', v_lapsed.ids, v_lapsed.needs, v_lapsed.tokens, p_worker, v_lapsed.details);
  perform pgflow._trace_jobs('concern', v_lapsed.aside, v_lapsed.aside_needs, null, p_worker);
  perform pgflow._pick_heads(v_locked);
  return query select v_lapsed.number, coalesce(cardinality(v_lapsed.aside), 0);
end;
$$;
