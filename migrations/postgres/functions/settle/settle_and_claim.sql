-- A worker's round trip: completes tasks, fails others, then claims up to `qty` new ones, in one
-- transaction. Arrays are those of complete_tasks, fail_tasks and claim_tasks; null means none.
-- Rows come in this order: per completion its outcome (kind 'completed'), per failure its outcome
-- ('failed'), per run that ended with this its status, with what it failed with as input ('ended'), per claimed task what
-- claim_tasks gives ('claimed').
--
-- It cannot deadlock: settles take their locks in the order of complete_tasks, both kinds together,
-- and the claim comes last and waits for nobody (SKIP LOCKED). The other way round it could.
create or replace function pgflow.settle_and_claim(
  done_runs uuid[],
  done_steps text[],
  done_indexes int[],
  done_outputs jsonb[],
  done_attempts int[],
  failed_runs uuid[],
  failed_steps text[],
  failed_indexes int[],
  failed_errors text[],
  failed_attempts int[],
  failed_delays int[],
  failed_fatal boolean[],
  queue_names text[],
  qty int,
  worker_id uuid default null,
  limited_flows text[] default null,
  limited_steps text[] default null,
  limited_quotas int[] default null
) returns table (
  kind text, outcome text, flow_slug text, run_id uuid, step_slug text, task_index int, attempt int,
  input jsonb, msg_id bigint, timeout int
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
  v_done_attempts int[] := coalesce(done_attempts, array_fill(null::int, array[coalesce(cardinality(done_runs), 0)]));
  v_failed_attempts int[] := coalesce(failed_attempts, array_fill(null::int, array[coalesce(cardinality(failed_runs), 0)]));
  v_both record;
begin
  if cardinality(done_runs) > 0 and cardinality(failed_runs) > 0 then
    select * into v_both from pgflow._settle_both(
      done_runs, done_steps, done_indexes, done_outputs, v_done_attempts,
      failed_runs, failed_steps, failed_indexes, failed_errors, v_failed_attempts, failed_delays, failed_fatal);
    return query
      select 'completed', o.outcome, null::text, o.run_id, o.step_slug, o.task_index, null::int, null::jsonb, null::bigint, null::int
        from pgflow._outcomes(done_runs, done_steps, done_indexes, v_done_attempts, v_both.done) o;
    return query
      select 'failed', o.outcome, null::text, o.run_id, o.step_slug, o.task_index, null::int, null::jsonb, null::bigint, null::int
        from pgflow._outcomes(failed_runs, failed_steps, failed_indexes, v_failed_attempts, v_both.failed) o;
  elsif cardinality(done_runs) > 0 then
    return query
      select 'completed', o.outcome, null::text, o.run_id, o.step_slug, o.task_index, null::int, null::jsonb, null::bigint, null::int
        from pgflow.complete_tasks(done_runs, done_steps, done_indexes, done_outputs, v_done_attempts) o;
  elsif cardinality(failed_runs) > 0 then
    return query
      select 'failed', o.outcome, null::text, o.run_id, o.step_slug, o.task_index, null::int, null::jsonb, null::bigint, null::int
        from pgflow.fail_tasks(failed_runs, failed_steps, failed_indexes, failed_errors, v_failed_attempts,
                               failed_delays, failed_fatal) o;
  end if;
  return query
    select 'ended', e.status, e.flow_slug, e.run_id, null::text, null::int, null::int, to_jsonb(e.error), null::bigint, null::int
      from pgflow.ended_runs(done_runs || failed_runs) e;
  return query
    select 'claimed', null::text, c.flow_slug, c.run_id, c.step_slug, c.task_index, c.attempt, c.input, c.msg_id, c.timeout
      from pgflow.claim_tasks(queue_names, qty, settle_and_claim.worker_id, limited_flows, limited_steps, limited_quotas) c;
end;
$$;
