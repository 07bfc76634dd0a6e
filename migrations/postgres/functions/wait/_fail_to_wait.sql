-- Fails attempts that were to wait and cannot, as fail_tasks does, and moves all messages of the batch, in one round: also those
-- of tasks that wait now, and those in the other runs that have changed. Returns the positions that took effect.
create or replace function pgflow._fail_to_wait(
  run_ids uuid[], step_slugs text[], task_indexes int[], attempts int[], errors text[],
  changed_runs uuid[], over_flows text[], over_ids bigint[]
) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_exhausted uuid[] := pgflow._exhausted_runs(run_ids, step_slugs, task_indexes, attempts, null);
  v_applied int[];
begin
  v_applied := pgflow._fail_work(run_ids, step_slugs, task_indexes, errors, attempts, null, v_exhausted);
  perform pgflow._settle_failed_messages(
    run_ids, step_slugs, task_indexes, attempts, null, v_applied, v_exhausted || changed_runs, over_flows, over_ids);
  return v_applied;
end;
$$;
