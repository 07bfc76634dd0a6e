-- Says how attempts at leased jobs ended, each by a word of `verdicts`:
--   finished      done; its payload is the output
--   failed        in line again after its delay (milliseconds), at its old place, unless it has no attempts left
--   fatal         failed, and not tried again
--   handed_over   to another need: payload (null keeps it), moment or delay, budget; its key is given up if frees_keys says so; see
--                 reschedule_jobs for what it waits for
--   released      handed back unused; nothing is counted
-- A job that was to be cancelled may be finished, and ends as cancelled otherwise. Per item: applied, cancelled,
-- already_settled (with this token), fenced or unknown. Of two items for one job the first counts.
create or replace function pgflow.settle_jobs(
  ids text[],
  tokens text[],
  verdicts text[],
  payloads jsonb[] default null,
  errors text[] default null,
  delays bigint[] default null,
  needs text[] default null,
  wake_ats timestamptz[] default null,
  max_attempts int[] default null,
  worker text default null,
  frees_keys boolean[] default null
) returns table (id text, outcome text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_now timestamptz;
  v_threshold int := (select s.crash_threshold from pgflow.job_settings s);
  v_held int[];
  v_cancelled int[];
  v_back record;
  v_over record;
begin
  perform pgflow._check_job_batch(settle_jobs.ids, array[
    coalesce(pgflow._length(tokens), -1), coalesce(pgflow._length(verdicts), -1), pgflow._length(payloads), pgflow._length(errors), pgflow._length(delays),
    pgflow._length(needs), pgflow._length(wake_ats), pgflow._length(settle_jobs.max_attempts), pgflow._length(frees_keys)]);
  perform pgflow._check_job_verdicts(verdicts);
  perform pgflow._check_needs(array(select i.need from unnest(verdicts, needs) i(verdict, need) where i.verdict = 'handed_over'));
  perform pgflow._check_times(wake_ats, delays);
  perform pgflow._check_payloads(payloads, settle_jobs.max_attempts);
  v_held := pgflow._held_jobs(settle_jobs.ids, tokens, verdicts && array['finished', 'failed', 'fatal']);
  v_cancelled := (
    select array_agg(n) from unnest(v_held) n
     where verdicts[n] <> 'finished' and (select j.cancel_at from pgflow.jobs j where j.id = settle_jobs.ids[n]) is not null);
  v_now := clock_timestamp();
  update pgflow.jobs j
     set failures = j.failures + 1, last_error = left(coalesce(errors[n], 'nobody said why'), pgflow._max_error_length())
    from unnest(v_held) n
    cross join lateral (select o.ctid as place from pgflow.jobs o where o.id = settle_jobs.ids[n] offset 0) o
   where j.ctid = o.place and verdicts[n] in ('failed', 'fatal') and j.cancel_at is null;
  with back as (
    update pgflow.jobs j
       set attempts = j.attempts - i.unused::int,
           forgiven = case when i.moves then j.attempts when i.unused then least(j.forgiven, j.attempts - 1) else j.forgiven end,
           need = case when i.moves then i.need else j.need end, payload = case when i.moves then coalesce(i.payload, j.payload) else j.payload end,
           max_attempts = case when i.moves then i.max_attempts else j.max_attempts end,
           streak = case when i.moves then 0 else j.streak end,
           wake_at = greatest(i.wake_at, v_now),
           state = case when not i.moves and j.streak > v_threshold and pgflow._is_for_people(j.need, j.max_attempts) then 'concern' when i.wake_at > v_now then 'sleeping' when j.key is not null and not i.frees then 'parked' else 'ready' end,
           key = case when not i.frees then j.key end,
           settled = j.token, token = null, lease_until = null, look_at = null
      from (
        select o.ctid as place, n, o.token, verdicts[n] as verdict, verdicts[n] = 'handed_over' as moves, verdicts[n] = 'released' as unused,
               coalesce(verdicts[n] = 'handed_over' and frees_keys[n], false) as frees, o.key as old_key,
               needs[n] as need, payloads[n] as payload, settle_jobs.max_attempts[n] as max_attempts, o.need as old_need, delays[n] as delay,
               case when verdicts[n] <> 'released' then coalesce(wake_ats[n], v_now + delays[n] * interval '1 millisecond') end as wake_at
          from unnest(v_held) n
          cross join lateral (select o.ctid, o.* from pgflow.jobs o where o.id = settle_jobs.ids[n] offset 0) o
         where o.cancel_at is null and verdicts[n] not in ('finished', 'fatal')
           and not (verdicts[n] = 'failed' and coalesce(o.attempts - o.forgiven >= o.max_attempts, false))
      ) i
     where j.ctid = i.place
    returning j.id, i.n, j.need, i.old_key, i.frees, j.state, i.token, i.verdict, case i.verdict
      when 'failed' then jsonb_build_object('error', left(j.last_error, 1000), 'delay', i.delay, 'retry', true)
      when 'handed_over' then jsonb_build_object('from', i.old_need) end as detail
  ), traced as (
    insert into pgflow.job_trace (token, kind, job, need, worker, detail)
    select b.token, b.verdict, b.id, b.need, settle_jobs.worker, b.detail from back b
     where (select s.trace from pgflow.job_settings s)
  )
  select array_agg(b.n) as positions, array_agg(b.old_key) filter (where b.old_key is not null) as keys,
         array_agg(-b.frees::int) filter (where b.old_key is not null) as deltas,
         array_agg(b.id) filter (where b.state = 'ready') as ready, array_agg(b.need) filter (where b.state = 'ready') as needs,
         array_agg(b.id) filter (where b.state = 'concern') as aside, array_agg(b.need) filter (where b.state = 'concern') as aside_needs
    into v_back from back b;
  -- The threshold was lowered while somebody had them.
  perform pgflow._trace_jobs('concern', v_back.aside, v_back.aside_needs, null, settle_jobs.worker);
  perform pgflow._announce_jobs(v_back.ready, v_back.needs);
  select array_agg(j.id order by n) as ids,
         array_agg(case when verdicts[n] = 'finished' then 'done' when j.cancel_at is not null then 'cancelled' else 'failed' end order by n) as outcomes,
         array_agg(case when verdicts[n] = 'finished' then payloads[n] end order by n) as outputs,
         array_agg(case when verdicts[n] in ('failed', 'fatal') and j.cancel_at is null then j.last_error end order by n) as errors
    into v_over
    from unnest(v_held) n
    cross join lateral (select * from pgflow.jobs j where j.id = settle_jobs.ids[n] offset 0) j
   where n <> all (coalesce(v_back.positions, '{}'));
  perform pgflow._end_jobs(
    v_over.ids, v_over.outcomes, v_over.outputs, v_over.errors, settle_jobs.worker, null,
    v_back.keys, v_back.deltas);
  return query select * from pgflow._job_outcomes(settle_jobs.ids, tokens, v_held, v_cancelled);
end;
$$;
