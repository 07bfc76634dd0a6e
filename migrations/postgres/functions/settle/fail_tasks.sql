-- Fails attempts of tasks of any runs: each is tried again later, or its step ends. One outcome
-- per item, as complete_tasks gives them; locks in the same order.
--
-- A delay (seconds) takes the place of the back-off; fatal means that no other attempt would help:
-- the step ends as if the attempts were used up.
create or replace function pgflow.fail_tasks(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  error_messages text[],
  attempts int[] default null,
  delays int[] default null,
  fatal boolean[] default null
) returns table (run_id uuid, step_slug text, task_index int, outcome text)
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
  v_attempts int[] := coalesce(attempts, array_fill(null::int, array[coalesce(cardinality(run_ids), 0)]));
  v_locked record;
  v_applied int[];
begin
  perform pgflow._check_batch(run_ids, step_slugs, task_indexes, cardinality(error_messages), v_attempts);
  perform pgflow._check_verdicts(cardinality(run_ids), delays, fatal);
  select * into v_locked from pgflow._lock_steps_to_fail(run_ids, step_slugs, task_indexes, v_attempts, fatal);
  v_applied := pgflow._fail_work(
    run_ids, step_slugs, task_indexes, error_messages, v_locked.attempts, fatal, v_locked.exhausted);
  perform pgflow._settle_failed_messages(
    run_ids, step_slugs, task_indexes, v_attempts, delays, v_applied, v_locked.exhausted, null, null);
  return query select * from pgflow._outcomes(run_ids, step_slugs, task_indexes, v_attempts, v_applied);
end;
$$;
