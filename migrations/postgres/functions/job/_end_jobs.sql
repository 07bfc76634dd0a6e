-- Ends jobs that the caller has locked with _lock_jobs: archives them, releases those who wait for them or ends those
-- too, as their edges say, and frees their keys. `keys` and `deltas` are what else the caller has for _line_up, because
-- keys are locked once, after all jobs. With kind 'run' the ids are of runs that have ended; with `over` of jobs that are
-- archived already.
--
-- Ends are passed on in the order given: the first that takes a waiter along says how that one ends.
-- Edges are read after the row that they lead to is gone: who adds one has a lock on that row, or finds it gone.
create or replace function pgflow._end_jobs(
  p_ids text[],
  p_outcomes text[],
  p_outputs jsonb[],
  p_errors text[],
  p_worker text,
  p_detail jsonb default null,
  p_keys text[] default null,
  p_deltas int[] default null,
  p_kind text default 'job',
  p_over boolean default false,
  p_causes text[] default null
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_ids text[] := p_ids;
  v_outcomes text[] := p_outcomes;
  v_outputs jsonb[] := p_outputs;
  v_errors text[] := p_errors;
  v_causes text[] := p_causes;
  v_kind text := p_kind;
  v_over boolean := p_over;
  v_trace boolean := (select s.trace from pgflow.job_settings s);
  v_waiters text[];
  v_left text[];
  v_keys text[] := p_keys;
  v_deltas int[] := p_deltas;
  v_next record;
begin
  while cardinality(v_ids) > 0 loop
    if v_kind = 'job' and not v_over then
      with gone as (
        delete from pgflow.jobs j
         using unnest(v_ids, v_outcomes, v_outputs, v_errors, v_causes) i(id, outcome, output, error, cause)
         cross join lateral (select o.ctid as place from pgflow.jobs o where o.id = i.id offset 0) o
         where j.ctid = o.place
        returning j.*, i.outcome, i.output, i.error, i.cause
      ), edge as (
        delete from pgflow.job_edges e using gone g where g.waits > 0 and e.waiter = g.id
        returning e.waiter, e.place, e.dependency
      ), kept as (
        insert into pgflow.job_archive (
          archived_at, seq, created_at, wake_at, expires_at, token, settled, priority, attempts, forgiven, failures, lapses, streak,
          max_attempts, outcome, id, need, key, worker, payload, output, error, waited_for, cancel_at, cancel_by,
          cancel_reason)
        select v_now, g.seq, g.created_at, g.wake_at, g.expires_at, g.token, coalesce(g.token, g.settled), g.priority, g.attempts, g.forgiven, g.failures, g.lapses,
               case when g.outcome = 'done' then 0 else g.streak end, g.max_attempts, g.outcome, g.id, g.need, g.key,
               coalesce(g.worker, p_worker), g.payload, g.output, coalesce(g.error, g.last_error),
               case when g.waits > 0 then
                 nullif(array(select e.dependency from edge e where e.waiter = g.id order by e.place), '{}') end,
               case when g.outcome = 'cancelled' then coalesce(g.cancel_at, v_now) else g.cancel_at end,
               case when g.outcome = 'cancelled' then coalesce(g.cancel_by, g.cause, p_worker, 'nobody') else g.cancel_by end,
               g.cancel_reason
          from gone g
      ), traced as (
        insert into pgflow.job_trace (token, kind, job, need, worker, detail)
        select g.token, case g.outcome when 'done' then 'finished' else g.outcome end, g.id, g.need, p_worker,
               case when g.cause is not null then jsonb_build_object('because', left(g.error, 1000))
                    when g.outcome = 'cancelled' and g.cancel_at is not null then
                      coalesce(p_detail, '{}') || jsonb_build_object('by', g.cancel_by, 'reason', left(g.cancel_reason, 1000))
                    when g.error is null then p_detail
                    else coalesce(p_detail, '{}') || jsonb_build_object('error', left(g.error, 1000)) end
          from gone g where v_trace
      )
      select array_agg(g.key) filter (where g.key is not null) into v_left from gone g;
      v_keys := v_keys || v_left;
      v_deltas := v_deltas || array_fill(-1, array[coalesce(cardinality(v_left), 0)]);
    end if;

    v_waiters := pgflow._waiters_of(v_kind, v_ids, v_outcomes);
    exit when v_waiters = '{}';
    with passed as (
      delete from pgflow.job_edges e
       using unnest(v_ids, v_outcomes) with ordinality d(id, outcome, n)
       -- By their dependencies: the index of waiters would have all that a join waits for.
       cross join lateral (
         select o.ctid as place from pgflow.job_edges o where o.dependency = d.id and o.kind = v_kind and (o.waiter = any (v_waiters)) is true offset 0
       ) o
       where e.ctid = o.place
      returning e.waiter, d.id, d.n, d.outcome, case when d.outcome = 'done' then 'release' else e.policy end as policy
    ), waiter as (
      select p.waiter, count(*)::int as over, min(p.n) filter (where p.policy <> 'release') as n,
             (array_agg(case p.policy when 'fail' then 'failed' else 'cancelled' end order by p.n)
               filter (where p.policy <> 'release'))[1] as outcome,
             (array_agg(format('dependency %s', p.id) order by p.n) filter (where p.policy <> 'release'))[1] as cause,
             (array_agg(format('dependency %s ended %s', p.id, p.outcome) order by p.n)
               filter (where p.policy <> 'release'))[1] as error
        from passed p group by 1
    ), released as (
      update pgflow.jobs j
         set waits = j.waits - w.over,
             state = case when j.state <> 'waiting' or j.waits > w.over then j.state
               when j.wake_at > v_now then 'sleeping' when j.key is not null then 'parked' else 'ready' end,
             wake_at = case when j.state <> 'waiting' or j.waits > w.over then j.wake_at else greatest(j.wake_at, v_now) end
        from waiter w
        cross join lateral (select o.ctid as place from pgflow.jobs o where o.id = w.waiter offset 0) o
       where j.ctid = o.place and w.outcome is null
      returning j.id, j.need, j.key, j.state, j.waits
    )
    select array_agg(w.waiter order by w.n, w.waiter) filter (where w.outcome is not null) as ids,
           array_agg(w.outcome order by w.n, w.waiter) filter (where w.outcome is not null) as outcomes,
           array_agg(w.cause order by w.n, w.waiter) filter (where w.outcome is not null) as causes,
           array_agg(w.error order by w.n, w.waiter) filter (where w.outcome is not null) as errors,
           array_agg(r.id) filter (where r.state = 'ready') as ready,
           array_agg(r.need) filter (where r.state = 'ready') as needs,
           array_agg(r.key) filter (where r.state = 'parked') as parked,
           array_agg(r.id) filter (where r.waits = 0) as unblocked,
           array_agg(r.need) filter (where r.waits = 0) as unblocked_needs
      into v_next
      from waiter w left join released r on r.id = w.waiter;
    perform pgflow._trace_jobs('unblocked', v_next.unblocked, v_next.unblocked_needs, null, p_worker);
    perform pgflow._announce_jobs(v_next.ready, v_next.needs);
    v_keys := v_keys || v_next.parked;
    v_deltas := v_deltas || array_fill(0, array[coalesce(cardinality(v_next.parked), 0)]);
    v_ids := v_next.ids;
    v_outcomes := v_next.outcomes;
    v_outputs := null;
    v_causes := v_next.causes;
    v_errors := v_next.errors;
    v_kind := 'job';
    v_over := false;
  end loop;
  perform pgflow._line_up(v_keys, v_deltas);
end;
$$;
