-- Hands leased jobs over to other needs: new need, payload (null keeps it), moment or delay (milliseconds), budget of
-- attempts, and what to wait for first, in arrays as submit_jobs takes them. A job keeps its place in line, key and expiry.
-- One that was to be cancelled ends as that instead. Per item: applied, already_settled, fenced or unknown.
create or replace function pgflow.reschedule_jobs(
  ids text[],
  tokens text[],
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
  v_dependencies text[];
  v_kinds text[];
  v_ends text[];
  v_waiters text[];
  v_held int[];
  v_cancelled int[];
  v_move record;
begin
  perform pgflow._check_job_batch(reschedule_jobs.ids, array[
    coalesce(pgflow._length(tokens), -1), coalesce(pgflow._length(needs), -1), pgflow._length(payloads), pgflow._length(wake_ats), pgflow._length(delays),
    pgflow._length(reschedule_jobs.max_attempts)]);
  perform pgflow._check_needs(needs);
  perform pgflow._check_times(wake_ats, delays);
  perform pgflow._check_payloads(payloads, reschedule_jobs.max_attempts);
  v_dependencies := pgflow._check_edges(cardinality(needs), edge_jobs, edge_kinds, dependencies, policies);
  v_kinds := array(select coalesce(k.kind, 'job') from unnest(edge_kinds, edge_jobs) with ordinality k(kind, job, n) order by k.n);
  if cardinality(edge_jobs) > 0 then
    v_ends := pgflow._lock_dependencies(v_kinds, v_dependencies, array(
      select i.id from unnest(reschedule_jobs.ids, tokens) i(id, token)
       where (select j.token::text from pgflow.jobs j where j.id = i.id) = i.token), null);
    perform pgflow._refuse_unknown(v_dependencies, v_ends);
  end if;
  v_held := pgflow._held_jobs(reschedule_jobs.ids, tokens, false);
  v_cancelled := (
    select array_agg(n) from unnest(v_held) n
     where (select j.cancel_at from pgflow.jobs j where j.id = reschedule_jobs.ids[n]) is not null);
  select array_agg(reschedule_jobs.ids[n]) as ids, array_agg(needs[n]) as needs, array_agg(payloads[n]) as payloads,
         array_agg(coalesce(wake_ats[n], clock_timestamp() + delays[n] * interval '1 millisecond')) as wake_ats,
         array_agg(reschedule_jobs.max_attempts[n]) as max_attempts
    into v_move
    from unnest(v_held) n where n <> all (coalesce(v_cancelled, '{}'));
  if v_move.ids is not null then
    v_waiters := array(
      select case when e.job = any (v_held) and reschedule_jobs.ids[e.job] = any (v_move.ids) then reschedule_jobs.ids[e.job] end
        from unnest(edge_jobs) with ordinality e(job, n) order by e.n);
    perform pgflow._move_jobs(
      v_move.ids, v_move.needs, v_move.payloads, null, v_move.wake_ats, v_move.max_attempts, v_waiters, v_kinds, v_dependencies,
      policies, v_ends, reschedule_jobs.worker);
  end if;
  -- Keys were locked by then if both kinds are in one batch: these jobs end only because somebody asked for it.
  perform pgflow._end_jobs(array_agg(reschedule_jobs.ids[n]), array_agg('cancelled'::text), null, null, reschedule_jobs.worker)
     from unnest(v_cancelled) n;
  return query select * from pgflow._job_outcomes(reschedule_jobs.ids, tokens, v_held, v_cancelled);
end;
$$;
