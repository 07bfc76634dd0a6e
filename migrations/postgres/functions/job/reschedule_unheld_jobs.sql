-- Hands jobs over without a lease, as reschedule_jobs does with one: for an operator. Per item: applied, refused (somebody
-- has it, or it sleeps, waits or is cancelled), already_settled or unknown.
create or replace function pgflow.reschedule_unheld_jobs(
  ids text[],
  needs text[],
  payloads jsonb[] default null,
  wake_ats timestamptz[] default null,
  max_attempts int[] default null,
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
  v_free text[];
  v_move record;
begin
  perform pgflow._check_job_batch(reschedule_unheld_jobs.ids, array[
    coalesce(cardinality(needs), -1), cardinality(payloads), cardinality(wake_ats), cardinality(reschedule_unheld_jobs.max_attempts)]);
  perform pgflow._check_needs(needs);
  perform pgflow._check_times(wake_ats, null);
  perform pgflow._check_payloads(payloads, reschedule_unheld_jobs.max_attempts);
  v_free := pgflow._unheld_jobs(reschedule_unheld_jobs.ids, reschedule_unheld_jobs.worker);
  select array_agg(i.id) as ids, array_agg(i.need) as needs, array_agg(i.payload) as payloads,
         array_agg(i.wake_at) as wake_ats, array_agg(i.max_attempts) as max_attempts
    into v_move
    from (
      select distinct on (i.id) i.*
        from unnest(reschedule_unheld_jobs.ids, needs, payloads, wake_ats, reschedule_unheld_jobs.max_attempts)
          with ordinality i(id, need, payload, wake_at, max_attempts, n)
       where i.id = any (v_free) order by i.id, i.n
    ) i;
  if v_move.ids is not null then
    perform pgflow._move_jobs(
      v_move.ids, v_move.needs, v_move.payloads, null, v_move.wake_ats, v_move.max_attempts, null, null, null, null, null,
      reschedule_unheld_jobs.worker);
  end if;
  return query select * from pgflow._unheld_outcomes(reschedule_unheld_jobs.ids, v_free);
end;
$$;
