-- Submits jobs: one element of each array per job, null where there is nothing to say; arrays that say nothing may be
-- null. Returns for each `submitted`, or `exists` where the id is that of a live or archived job. A null id is made.
--
-- Delays and lifetimes are milliseconds from now, used where there is no moment. What jobs wait for stands in arrays of its
-- own: which job (its position), `job` or `run`, the id of that, and what its end does: `release`, or `fail` or `cancel`
-- if it did not end well. Jobs of the batch may wait for each other.
create or replace function pgflow.submit_jobs(
  ids text[],
  needs text[],
  payloads jsonb[] default null,
  priorities int[] default null,
  keys text[] default null,
  wake_ats timestamptz[] default null,
  delays bigint[] default null,
  expires_ats timestamptz[] default null,
  lifetimes bigint[] default null,
  max_attempts int[] default null,
  edge_jobs int[] default null,
  edge_kinds text[] default null,
  dependencies text[] default null,
  policies text[] default null,
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
  v_now timestamptz := clock_timestamp();
  v_ids text[] := submit_jobs.ids;
  v_wake_ats timestamptz[] := wake_ats;
  v_expires_ats timestamptz[] := expires_ats;
  v_kinds text[];
  v_dependencies text[];
  v_submitted int[];
begin
  perform pgflow._check_job_batch(needs, array[
    pgflow._length(submit_jobs.ids), pgflow._length(payloads), pgflow._length(priorities), pgflow._length(keys), pgflow._length(wake_ats), pgflow._length(delays),
    pgflow._length(expires_ats), pgflow._length(lifetimes), pgflow._length(submit_jobs.max_attempts)]);
  perform pgflow._check_needs(needs, submit_jobs.ids || keys);
  if num_nonnulls(wake_ats, expires_ats, delays, lifetimes) > 0 then
    perform pgflow._check_times(wake_ats || expires_ats, delays || lifetimes);
  end if;
  perform pgflow._check_payloads(payloads, submit_jobs.max_attempts);
  if num_nonnulls(edge_jobs, edge_kinds, dependencies, policies) > 0 then
    v_dependencies := pgflow._check_edges(cardinality(needs), edge_jobs, edge_kinds, dependencies, policies);
  end if;
  if v_ids is null or array_position(v_ids, null) > 0 then
    v_ids := array(
      select coalesce(i.id, pgflow._time_ordered_uuid()::text)
        from unnest(submit_jobs.ids, needs) with ordinality i(id, need, n) order by i.n);
  end if;
  if delays is not null then
    v_wake_ats := array(
      select coalesce(w.at, v_now + w.delay * interval '1 millisecond') from unnest(wake_ats, delays) with ordinality w(at, delay, n) order by w.n);
  end if;
  if lifetimes is not null then
    v_expires_ats := array(
      select coalesce(e.at, v_now + e.lifetime * interval '1 millisecond') from unnest(expires_ats, lifetimes) with ordinality e(at, lifetime, n) order by e.n);
  end if;
  if cardinality(edge_jobs) > 0 then
    v_kinds := array(select coalesce(k.kind, 'job') from unnest(edge_kinds, edge_jobs) with ordinality k(kind, job, n) order by k.n);
  end if;
  v_submitted := pgflow._submit_jobs(
    v_ids, needs, payloads, priorities, keys, v_wake_ats, v_expires_ats, submit_jobs.max_attempts, edge_jobs, v_kinds, v_dependencies,
    policies, submit_jobs.worker, null, v_now, submit_jobs.ids is null);
  return query
    select i.id, case when cardinality(v_submitted) = cardinality(v_ids) or i.n = any (v_submitted) then 'submitted' else 'exists' end
      from unnest(v_ids) with ordinality i(id, n) order by i.n;
end;
$$;
