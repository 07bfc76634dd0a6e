-- Takes back those of these jobs whose lease has run out, and counts that, once per lease: back in line, aside if it
-- happened too often in a row (concern), or to the sweep if it is to end. Waits for nobody. Returns how many, and how many of
-- them are aside now.
create or replace function pgflow._return_lapsed(p_now timestamptz, p_ids text[], p_worker text, p_detail jsonb default null)
returns table (lapsed int, concerns int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_threshold int := (select s.crash_threshold from pgflow.job_settings s);
  v_ids text[] := array(
    select j.id from pgflow.jobs j
     where j.id = any (array(select i from unnest(p_ids) i where (select o.lease_until <= p_now from pgflow.jobs o where o.id = i)))
     order by j.id for no key update skip locked);
  v_lapsed record;
begin
  if v_ids = '{}' then
    return query select 0, 0;
    return;
  end if;
  with lapsed as (
    update pgflow.jobs j
       set state = case
             when j.cancel_at is not null then 'cancelled'
             when j.attempts - j.forgiven >= j.max_attempts then 'crashed'
             when j.streak >= v_threshold and pgflow._is_for_people(j.need, j.max_attempts) then 'concern'
             when j.wake_at > p_now then 'sleeping'
             when j.key is not null then 'parked'
             else 'ready' end,
           lapses = j.lapses + 1, streak = j.streak + 1, token = null, lease_until = null, look_at = null,
           wake_at = greatest(j.wake_at, least(p_now, statement_timestamp()))
      from unnest(v_ids) i(id)
      cross join lateral (select o.ctid as place, o.* from pgflow.jobs o where o.id = i.id offset 0) o
     where j.ctid = o.place and o.state = 'leased' and o.lease_until <= p_now
    returning j.id, j.need, j.key, o.token, o.lease_until, o.worker, j.lapses, j.streak, j.state
  )
  select array_agg(l.id) as ids, array_agg(l.need) as needs, array_agg(l.token) as tokens,
         array_agg(coalesce(p_detail, '{}') || jsonb_build_object(
           'until', l.lease_until, 'by', l.worker, 'lapses', l.lapses, 'streak', l.streak, 'state', l.state)) as details,
         array_agg(l.id) filter (where l.state = 'concern') as aside,
         array_agg(l.need) filter (where l.state = 'concern') as aside_needs,
         array_agg(l.key) filter (where l.key is not null) as keys
    into v_lapsed from lapsed l;
  perform pgflow._trace_jobs('lapsed', v_lapsed.ids, v_lapsed.needs, v_lapsed.tokens, p_worker, v_lapsed.details);
  perform pgflow._trace_jobs('concern', v_lapsed.aside, v_lapsed.aside_needs, null, p_worker);
  perform pgflow._line_up(v_lapsed.keys, array_fill(0, array[coalesce(cardinality(v_lapsed.keys), 0)]), false);
  return query select coalesce(cardinality(v_lapsed.ids), 0), coalesce(cardinality(v_lapsed.aside), 0);
end;
$$;
