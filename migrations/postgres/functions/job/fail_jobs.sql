-- Says that attempts failed, and why: after its delay (milliseconds) a job is in line again, at its old place. A job
-- that has no attempts left, or whose failure is fatal, ends as failed; one that was to be cancelled ends as that.
create or replace function pgflow.fail_jobs(
  ids text[],
  tokens text[],
  errors text[],
  delays bigint[] default null,
  fatal boolean[] default null,
  worker text default null
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
  v_held int[];
  v_back record;
begin
  perform pgflow._check_job_batch(fail_jobs.ids, array[
    coalesce(cardinality(tokens), -1), coalesce(cardinality(errors), -1), cardinality(delays), cardinality(fatal)]);
  perform pgflow._check_times(null, delays);
  v_held := pgflow._held_jobs(fail_jobs.ids, tokens);
  v_now := clock_timestamp();
  with failed as (
    update pgflow.jobs j
       set failures = j.failures + 1, last_error = left(i.error, pgflow._max_error_length()), settled = j.token,
           -- Those that end here keep their lease until they do.
           state = case when i.ends then j.state
             when i.delay > 0 then 'sleeping' when j.key is not null then 'parked' else 'ready' end,
           wake_at = case when i.ends or coalesce(i.delay, 0) = 0 then j.wake_at else v_now + i.delay * interval '1 millisecond' end,
           token = case when i.ends then j.token end, lease_until = case when i.ends then j.lease_until end,
           look_at = case when i.ends then j.look_at end
      from (
        select o.id, o.token, errors[n] as error, delays[n] as delay,
               o.cancel_at is not null or coalesce(fatal[n], false) or coalesce(o.attempts - o.forgiven >= o.max_attempts, false) as ends
          from unnest(v_held) n join pgflow.jobs o on o.id = fail_jobs.ids[n]
      ) i
     where j.id = i.id
    returning j.id, j.need, j.key, j.state, j.last_error, i.token, i.ends, j.cancel_at, i.delay
  )
  select array_agg(f.id) filter (where f.ends) as ids,
         array_agg(case when f.cancel_at is null then 'failed' else 'cancelled' end) filter (where f.ends) as outcomes,
         array_agg(f.last_error) filter (where f.ends) as errors,
         array_agg(f.id) filter (where not f.ends) as back,
         array_agg(f.need) filter (where not f.ends) as needs,
         array_agg(f.token) filter (where not f.ends) as tokens,
         array_agg(jsonb_build_object('error', left(f.last_error, 1000), 'delay', f.delay, 'retry', true)) filter (where not f.ends) as details,
         array_agg(f.key) filter (where not f.ends and f.key is not null) as keys,
         array_agg(f.id) filter (where f.state = 'ready') as ready,
         array_agg(f.need) filter (where f.state = 'ready') as ready_needs
    into v_back from failed f;
  perform pgflow._trace_jobs('failed', v_back.back, v_back.needs, v_back.tokens, fail_jobs.worker, v_back.details);
  perform pgflow._announce_jobs(v_back.ready, v_back.ready_needs);
  perform pgflow._end_jobs(
    v_back.ids, v_back.outcomes, null, v_back.errors, fail_jobs.worker, null,
    v_back.keys, array_fill(0, array[coalesce(cardinality(v_back.keys), 0)]));
  return query select * from pgflow._job_outcomes(fail_jobs.ids, tokens, v_held, true);
end;
$$;
