-- Leases the first messages of a queue, for a stage that needs nothing but slots: what look_at_queue and lease_messages do for it, in
-- one call. Returns what claim_jobs does, since when each could have been taken, and whether more is there than is handed out at once. Nothing if that takes a look: one of them holds
-- resources, keeps its key waiting, or was lost with its worker and goes alone; or the queue is a fair one, whose place is to be noted; or if there is nothing.
create or replace function pgflow.claim_messages(worker text, queue text, seconds double precision, qty int)
returns table (
  id text, need text, payload jsonb, token text, attempt int, lease_until timestamptz, priority int, key text,
  created_at timestamptz, expires_at timestamptz, failures int, lapses int, streak int, max_attempts int, last_error text,
  seq bigint, forgiven int, since timestamptz, is_cut boolean
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
  v_free record;
  v_fit text[];
begin
  perform pgflow._check_claim(claim_messages.worker, array[claim_messages.queue], seconds, qty);
  perform pgflow._tidy_line(v_now, array[claim_messages.queue], qty, claim_messages.worker);
  if exists (select from pgflow.paused_needs p where p.need = claim_messages.queue)
     or exists (select from pgflow.permits p where p.kind = 'round' and p.name = claim_messages.queue) then
    return;
  end if;
  select array_agg(f.id) as ids, array_agg(f.id) filter (where f.key is not null) as keyed, sum(f.most) as most, bool_or(f.streak > 0) as any_lost
    into v_free
    from (
      select j.id, j.key, j.streak, coalesce(octet_length(j.last_error), 0) + case
                 when pg_column_size(j.payload) < 16000 and pg_column_compression(j.payload) is null then octet_length(j.payload::text)
                 else pgflow._claim_bytes() end as most
        from pgflow.jobs j
       where j.state = 'ready' and j.need = claim_messages.queue and (j.expires_at is null or j.expires_at > v_now)
       order by j.priority desc, j.seq limit qty for no key update skip locked
    ) f;
  -- At most 64 MB of payloads, and one message in any case. What comes after the first that does not fit waits too. Few are so large
  -- that they have to be measured.
  v_fit := v_free.ids;
  if v_free.most > pgflow._claim_bytes() then
    v_fit := pgflow._fitting_jobs(v_fit, 0);
  end if;
  -- Rows of messages are written with their jobs, which nobody else can take any more.
  if v_fit is null or v_free.any_lost or exists (
    select from unnest(v_fit) i(id)
      cross join lateral (select from pgflow.job_messages m
        where m.job = i.id and (m.not_before is not null or m.resources <> '{}') offset 0) m
  ) then
    return;
  end if;
  return query
    select t.id, t.need, t.payload, t.token::text, t.attempts, t.lease_until, t.priority, t.key, t.created_at, t.expires_at,
           t.failures, t.lapses, t.streak, t.max_attempts, t.last_error, t.seq, t.forgiven,
           coalesce(t.wake_at, t.created_at), cardinality(v_fit) < cardinality(v_free.ids)
      from pgflow._lease_locked(
        claim_messages.worker, v_fit, case when v_free.keyed is not null then array(select k from unnest(v_free.keyed) k where k = any (v_fit)) end,
        seconds) t;
end;
$$;
