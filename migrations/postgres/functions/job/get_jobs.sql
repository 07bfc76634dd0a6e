-- Jobs as people see them, live or archived, in the order asked for; an id that is neither has no row. Status is the first
-- that fits of ACTIVE, CANCELLED, AWAITING_FUTURE, PENDING_JOBS, CRASH_CONCERN, EXPIRED and READY, or how the job ended.
create or replace function pgflow.get_jobs(ids text[])
returns table (
  id text, status text, need text, payload jsonb, priority int, key text, created_at timestamptz, wake_at timestamptz,
  expires_at timestamptz, waits int, attempts int, failures int, lapses int, streak int, max_attempts int, worker text,
  lease_until timestamptz, error text, archived_at timestamptz, output jsonb, cancel_at timestamptz, cancel_by text, cancel_reason text,
  seq bigint, state text, forgiven int, token text, settled text, edge_kinds text[], dependencies text[], policies text[]
)
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
begin
  return query
    select i.id, coalesce(a.outcome, pgflow._job_status(j, v_now)), coalesce(j.need, a.need), coalesce(j.payload, a.payload),
           coalesce(j.priority, a.priority), coalesce(j.key, a.key), coalesce(j.created_at, a.created_at),
           case when isfinite(j.wake_at) then j.wake_at end, coalesce(j.expires_at, a.expires_at), coalesce(j.waits, 0),
           coalesce(j.attempts, a.attempts), coalesce(j.failures, a.failures), coalesce(j.lapses, a.lapses),
           coalesce(j.streak, a.streak), coalesce(j.max_attempts, a.max_attempts), coalesce(j.worker, a.worker), j.lease_until,
           coalesce(j.last_error, a.error), a.archived_at, a.output, coalesce(j.cancel_at, a.cancel_at),
           coalesce(j.cancel_by, a.cancel_by), coalesce(j.cancel_reason, a.cancel_reason),
           coalesce(j.seq, a.seq), j.state, coalesce(j.forgiven, a.forgiven), j.token::text, coalesce(j.settled, a.settled)::text,
           e.kinds, e.dependencies, e.policies
      from unnest(get_jobs.ids) with ordinality i(id, n)
      left join pgflow.jobs j on j.id = i.id
      left join pgflow.job_archive a on a.id = i.id and j.id is null
      cross join lateral (
        select array_agg(e.kind order by e.kind, e.dependency, e.place) as kinds,
               array_agg(e.dependency order by e.kind, e.dependency, e.place) as dependencies,
               array_agg(e.policy order by e.kind, e.dependency, e.place) as policies
          from pgflow.job_edges e where j.waits > 0 and e.waiter = j.id
      ) e
     where j.id is not null or a.id is not null
     order by i.n;
end;
$$;
