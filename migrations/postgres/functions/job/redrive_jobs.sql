-- Puts archived jobs that failed or crashed back in line with a fresh budget: those named, or the oldest of a need. With a
-- `rate` per second they wake one after the other. A job keeps its id, place, payload and key; nothing waits for it any
-- more, and it waits for nothing. Returns `redriven` for those that it put back; of ids that were named also `live`,
-- `not_redrivable` (it ended otherwise, as `ended_as` says, or somebody holds it) or `unknown`. Those that were named come in that
-- order.
create or replace function pgflow.redrive_jobs(
  ids text[] default null,
  need text default null,
  max_jobs int default 100,
  rate double precision default null,
  worker text default null
) returns table (id text, outcome text, ended_as text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_ids text[];
  v_back record;
begin
  if (redrive_jobs.ids is null) = (redrive_jobs.need is null) or coalesce(max_jobs, 0) < 1 or coalesce(rate, 1) <= 0 or rate = 'NaN' then
    raise exception 'Redrive takes ids or a need, at least one job, and a rate above 0'
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_redrive');
  end if;
  v_ids := case when redrive_jobs.ids is null then array(
      select d.id from pgflow.job_archive d where d.need = redrive_jobs.need and d.outcome in ('failed', 'crashed') order by d.seq limit max_jobs)
    else array(
      select i.id from (select u.id, min(u.n) as n from unnest(redrive_jobs.ids) with ordinality u(id, n) group by 1) i
       cross join lateral (select from pgflow.job_archive d where d.id = i.id and d.outcome in ('failed', 'crashed') offset 0) d
       order by i.n limit max_jobs) end;
  -- A moment in a hundred years is one that clocks show.
  if rate < 1 and cardinality(v_ids) - 1 > rate * 3155760000 then
    raise exception 'With a rate of % a second the last of % jobs would wake in more than a hundred years', rate, cardinality(v_ids)
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_redrive');
  end if;
  with dead as materialized (
    select d.id, row_number() over (order by i.n) - 1 as n
      from unnest(v_ids) with ordinality i(id, n)
     cross join lateral (
       select a.id from pgflow.job_archive a where a.id = i.id and a.outcome in ('failed', 'crashed') for update skip locked) d
  ), gone as (
    delete from pgflow.job_archive a using (
      select d.id, v_now + case when rate is null then interval '0' else d.n / rate * interval '1 second' end as back_at from dead d) d
     where a.id = d.id
    returning a.*, d.back_at, case when d.back_at > v_now then 'sleeping' when a.key is not null then 'parked' else 'ready' end as state
  ), back as (
    insert into pgflow.jobs (
      seq, created_at, settled, wake_at, expires_at, priority, attempts, forgiven, failures, lapses, max_attempts, state, id, need, key, worker, payload, last_error)
    select g.seq, g.created_at, g.settled, g.back_at, case when g.expires_at > v_now then g.expires_at end, g.priority, g.attempts, g.attempts, g.failures, g.lapses, g.max_attempts,
           g.state, g.id, g.need, g.key, g.worker, g.payload, g.error
      from gone g
  )
  select array_agg(g.id) as ids, array_agg(g.need) as needs, array_agg(g.key) filter (where g.key is not null) as keys,
         array_agg(jsonb_build_object('outcome', g.outcome, 'attempts', g.attempts, 'failures', g.failures, 'archived_at', g.archived_at)) as details,
         array_agg(g.id) filter (where g.state = 'ready') as ready, array_agg(g.need) filter (where g.state = 'ready') as ready_needs
    into v_back from gone g;
  perform pgflow._trace_jobs('redriven', v_back.ids, v_back.needs, null, redrive_jobs.worker, v_back.details);
  perform pgflow._announce_jobs(v_back.ready, v_back.ready_needs);
  perform pgflow._line_up(v_back.keys, array_fill(1, array[coalesce(cardinality(v_back.keys), 0)]));
  return query
    select i.id, case
        when i.is_back and i.time = 1 then 'redriven'
        when (select true from pgflow.jobs j where j.id = i.id) then 'live'
        when a.id is not null then 'not_redrivable'
        else 'unknown' end, a.outcome
      from (
        -- Those that are back once more, without a place: joins would compare each with each.
        select u.id, u.n, row_number() over (partition by u.id order by u.n) as time, bool_or(u.n is null) over (partition by u.id) as is_back
          from (select * from unnest(coalesce(redrive_jobs.ids, v_back.ids)) with ordinality i
                union all select b, null from unnest(v_back.ids) b) u(id, n)
      ) i
      left join pgflow.job_archive a on a.id = i.id
     where i.n is not null
     order by i.n;
end;
$$;
