-- Counts leases of these jobs that have run out, before somebody changes them by hand: a job without attempts left, or that was
-- to be cancelled, ends. The caller has locked them with _lock_jobs, and lines up the keys of those that go on.
create or replace function pgflow._count_lapses(p_ids text[], p_worker text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_threshold int := (select s.crash_threshold from pgflow.job_settings s);
  v_lapsed record;
begin
  with lapsed as (
    update pgflow.jobs j
       set state = case
             when j.cancel_at is not null then 'cancelled'
             when j.attempts - j.forgiven >= j.max_attempts then 'crashed'
             when j.streak >= v_threshold and pgflow._is_for_people(j.need, j.max_attempts) then 'concern'
             when j.key is not null then 'parked'
             else 'ready' end,
           lapses = j.lapses + 1, streak = j.streak + 1, token = null, lease_until = null, look_at = null,
           wake_at = greatest(j.wake_at, v_now)
      from unnest(p_ids) i(id)
      cross join lateral (select o.ctid as place, o.* from pgflow.jobs o where o.id = i.id offset 0) o
     where j.ctid = o.place and o.state = 'leased' and o.lease_until <= v_now
    returning j.id, j.seq, j.need, j.state, o.token, jsonb_build_object(
      'until', o.lease_until, 'by', j.worker, 'lapses', j.lapses, 'streak', j.streak, 'state', j.state) as detail
  )
  select array_agg(l.id) as ids, array_agg(l.need) as needs, array_agg(l.token) as tokens, array_agg(l.detail) as details,
         array_agg(l.id) filter (where l.state = 'concern') as aside,
         array_agg(l.need) filter (where l.state = 'concern') as aside_needs,
         array_agg(l.id order by l.seq) filter (where l.state in ('crashed', 'cancelled')) as over,
         array_agg(l.state order by l.seq) filter (where l.state in ('crashed', 'cancelled')) as outcomes
    into v_lapsed from lapsed l;
  perform pgflow._trace_jobs('lapsed', v_lapsed.ids, v_lapsed.needs, v_lapsed.tokens, p_worker, v_lapsed.details);
  perform pgflow._trace_jobs('concern', v_lapsed.aside, v_lapsed.aside_needs, null, p_worker);
  perform pgflow._end_jobs(v_lapsed.over, v_lapsed.outcomes, null, null, p_worker);
end;
$$;
