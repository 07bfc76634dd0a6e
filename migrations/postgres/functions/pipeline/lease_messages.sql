-- Leases exactly these messages, as far as they can be had: those that are ready, that nobody else has, and whose keys are free. Waits for
-- nobody. Returns what claim_jobs does.
create or replace function pgflow.lease_messages(worker text, ids text[], seconds double precision)
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
#variable_conflict use_column
declare
  v_free record;
begin
  perform pgflow._check_claim(lease_messages.worker, lease_messages.ids, seconds, cardinality(lease_messages.ids));
  select array_agg(f.id) as ids, array_agg(f.id) filter (where f.key is not null) as keyed into v_free
    from (
      select j.id, j.key from pgflow.jobs j
       where j.id = any (lease_messages.ids) and j.state = 'ready' and (j.expires_at is null or j.expires_at > clock_timestamp())
       for no key update skip locked
    ) f;
  return query
    select t.id, t.need, t.payload, t.token::text, t.attempts, t.lease_until, t.priority, t.key, t.created_at, t.expires_at,
           t.failures, t.lapses, t.streak, t.max_attempts, t.last_error, t.seq, t.forgiven
      from pgflow._lease_locked(lease_messages.worker, v_free.ids, v_free.keyed, seconds) t;
end;
$$;
