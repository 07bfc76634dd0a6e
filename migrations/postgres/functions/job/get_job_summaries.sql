-- Jobs as lists show them, live or archived, without payloads and in the order asked for; an id that is neither has no row.
create or replace function pgflow.get_job_summaries(ids text[])
returns table (
  id text, status text, state text, seq bigint, need text, priority int, key text, created_at timestamptz, wake_at timestamptz,
  expires_at timestamptz, waits int, attempts int, forgiven int, failures int, lapses int, streak int, max_attempts int,
  worker text, token text, lease_until timestamptz, error text, archived_at timestamptz,
  cancel_at timestamptz, cancel_by text, cancel_reason text
)
language plpgsql stable security definer
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
    select i.id, coalesce(a.outcome, pgflow._job_status(j, v_now)), j.state, coalesce(j.seq, a.seq), coalesce(j.need, a.need),
           coalesce(j.priority, a.priority), coalesce(j.key, a.key), coalesce(j.created_at, a.created_at),
           case when isfinite(j.wake_at) then j.wake_at end, coalesce(j.expires_at, a.expires_at), coalesce(j.waits, 0),
           coalesce(j.attempts, a.attempts), coalesce(j.forgiven, a.forgiven), coalesce(j.failures, a.failures),
           coalesce(j.lapses, a.lapses), coalesce(j.streak, a.streak), coalesce(j.max_attempts, a.max_attempts),
           coalesce(j.worker, a.worker), j.token::text, j.lease_until, coalesce(j.last_error, a.error), a.archived_at,
           coalesce(j.cancel_at, a.cancel_at), coalesce(j.cancel_by, a.cancel_by), coalesce(j.cancel_reason, a.cancel_reason)
      from unnest(get_job_summaries.ids) with ordinality i(id, n)
      left join pgflow.jobs j on j.id = i.id
      left join pgflow.job_archive a on a.id = i.id and j.id is null
     where j.id is not null or a.id is not null
     order by i.n;
end;
$$;
