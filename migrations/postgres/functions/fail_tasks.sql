-- Fails attempts of tasks of any runs: each is tried again later, or its step ends. One outcome
-- per item, as complete_tasks gives them; locks in the same order.
create or replace function pgflow.fail_tasks(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  error_messages text[],
  attempts int[] default null
) returns table (run_id uuid, step_slug text, task_index int, outcome text)
language plpgsql security definer
set search_path = ''
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
  v_exhausted uuid[];
  v_item record;
  v_applied int[];
begin
  perform pgflow._check_batch(run_ids, step_slugs, task_indexes, cardinality(error_messages), v_attempts);
  v_exhausted := pgflow._lock_steps_to_fail(run_ids, step_slugs, task_indexes, v_attempts);

  -- Where an attempt was the last one, a step or run ends and changes what the items after it meet.
  for v_item in
    select * from unnest(run_ids, step_slugs, task_indexes, error_messages, v_attempts)
      with ordinality i(run_id, step_slug, task_index, error_message, attempt, n)
     where i.run_id = any (v_exhausted)
     order by i.run_id, i.step_slug, i.task_index, i.n
  loop
    if pgflow._fail_task_row(v_item.run_id, v_item.step_slug, v_item.task_index, v_item.error_message, v_item.attempt) then
      v_applied := v_applied || v_item.n::int;
    end if;
  end loop;
  v_applied := v_applied || pgflow._retry_task_rows(
    run_ids, step_slugs, task_indexes, error_messages, v_attempts, coalesce(v_exhausted, '{}'));

  perform pgflow._settle_failed_messages(
    run_ids, step_slugs, task_indexes, v_attempts, v_applied, v_exhausted);
  return query select * from pgflow._outcomes(run_ids, step_slugs, task_indexes, v_attempts, v_applied);
end;
$$;
