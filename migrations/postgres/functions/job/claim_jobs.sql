-- Leases up to `qty` jobs that need one of `needs`, for so many seconds: the highest priority first, then by place in line.
-- Never waits. A job whose lease has run out is taken back first, and that is counted.
create or replace function pgflow.claim_jobs(worker text, needs text[], seconds double precision, qty int)
returns table (
  id text, need text, payload jsonb, token text, attempt int, lease_until timestamptz, priority int, key text,
  created_at timestamptz, expires_at timestamptz, failures int, lapses int, streak int, max_attempts int, last_error text,
  seq bigint, forgiven int
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
begin
  perform pgflow._check_claim(claim_jobs.worker, needs, seconds, qty);
  return query
    select j.id, j.need, j.payload, j.token::text, j.attempts, j.lease_until, j.priority, j.key,
           j.created_at, j.expires_at, j.failures, j.lapses, j.streak, j.max_attempts, j.last_error,
           j.seq, j.forgiven
      from pgflow._claim_jobs(claim_jobs.worker, needs, seconds, qty) j;
end;
$$;
