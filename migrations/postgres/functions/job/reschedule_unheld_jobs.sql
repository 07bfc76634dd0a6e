-- Hands jobs over without a lease, as reschedule_jobs does with one: for an operator. Per item: applied, refused (somebody
-- has it, or it sleeps, waits or is cancelled, as `status` says; or it cannot wait for that, as `problem` says),
-- already_settled or unknown.
create or replace function pgflow.reschedule_unheld_jobs(
  ids text[],
  needs text[],
  payloads jsonb[] default null,
  wake_ats timestamptz[] default null,
  delays bigint[] default null,
  max_attempts int[] default null,
  edge_jobs int[] default null,
  edge_kinds text[] default null,
  dependencies text[] default null,
  policies text[] default null,
  worker text default null
) returns table (id text, outcome text, status text, problem jsonb)
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
  v_dependencies text[];
begin
  perform pgflow._check_job_batch(reschedule_unheld_jobs.ids, array[
    coalesce(pgflow._length(needs), -1), pgflow._length(payloads), pgflow._length(wake_ats), pgflow._length(delays),
    pgflow._length(reschedule_unheld_jobs.max_attempts)]);
  perform pgflow._check_needs(needs);
  perform pgflow._check_times(wake_ats, delays);
  perform pgflow._check_payloads(payloads, reschedule_unheld_jobs.max_attempts);
  v_dependencies := pgflow._check_edges(cardinality(needs), edge_jobs, edge_kinds, dependencies, policies);
  -- All of them before the first is moved, in the order that everybody keeps: runs, then jobs.
  perform pgflow._lock_dependencies(
    array(select coalesce(e.kind, 'job') from unnest(edge_kinds, v_dependencies) e(kind, dependency) where e.dependency is not null),
    array(select e.dependency from unnest(v_dependencies) e(dependency) where e.dependency is not null),
    reschedule_unheld_jobs.ids, null, p_may_end => true);
  return query
    select i.id, m.outcome, m.status, m.problem
      from unnest(reschedule_unheld_jobs.ids, needs, payloads, wake_ats, delays, reschedule_unheld_jobs.max_attempts)
        with ordinality i(id, need, payload, wake_at, delay, max_attempts, n)
      cross join lateral (
        select coalesce(array_agg(coalesce(e.kind, 'job') order by e.n), '{}') as kinds, coalesce(array_agg(e.dependency order by e.n), '{}') as dependencies,
               coalesce(array_agg(coalesce(e.policy, 'release') order by e.n), '{}') as policies
          from unnest(edge_jobs, edge_kinds, v_dependencies, policies) with ordinality e(job, kind, dependency, policy, n)
         where e.job = i.n
      ) e
      cross join lateral pgflow._reschedule_unheld(
        i.id, i.need, i.payload, coalesce(i.wake_at, v_now + i.delay * interval '1 millisecond'), i.max_attempts,
        e.kinds, e.dependencies, e.policies, reschedule_unheld_jobs.worker) m
     order by i.n;
end;
$$;
