-- Completes some tasks and fails others in one go. All locks come first, and messages are moved once,
-- at the end, so that the order of locks is that of a batch of one kind. Returns the positions that
-- took effect, of each kind.
create or replace function pgflow._settle_both(
  done_runs uuid[], done_steps text[], done_indexes int[], done_outputs jsonb[], done_attempts int[],
  failed_runs uuid[], failed_steps text[], failed_indexes int[], failed_errors text[], failed_attempts int[],
  failed_delays int[], failed_fatal boolean[],
  out done int[],
  out failed int[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempts int[];
  v_done_attempts int[];
  v_failed_attempts int[];
  v_done record;
  v_exhausted uuid[];
begin
  perform pgflow._check_results(done_runs, done_steps, done_indexes, done_outputs, done_attempts);
  perform pgflow._check_batch(failed_runs, failed_steps, failed_indexes, cardinality(failed_errors), failed_attempts);
  perform pgflow._check_verdicts(cardinality(failed_runs), failed_delays, failed_fatal);
  v_attempts := pgflow._lock_to_settle(
    done_runs || failed_runs, done_steps || failed_steps, done_indexes || failed_indexes,
    done_attempts || failed_attempts);
  v_done_attempts := v_attempts[: cardinality(done_runs)];
  v_failed_attempts := v_attempts[cardinality(done_runs) + 1 :];
  select * into v_done from pgflow._complete_work(
    done_runs, done_steps, done_indexes, done_outputs, v_done_attempts,
    -- Of locks there is only one round: a second would go back in their order.
    exists (
      select from unnest(done_runs, done_steps) k(run_id, step_slug)
        cross join lateral (select r.flow_slug from pgflow.runs r where r.run_id = k.run_id offset 0) r
        join pgflow.steps d on d.flow_slug = r.flow_slug and d.step_slug = k.step_slug
       where d.feeds_map));
  v_exhausted := pgflow._exhausted_runs(failed_runs, failed_steps, failed_indexes, v_failed_attempts, failed_fatal);
  failed := pgflow._fail_work(
    failed_runs, failed_steps, failed_indexes, failed_errors, v_failed_attempts, failed_fatal, v_exhausted);
  done := v_done.items;
  perform pgflow._settle_failed_messages(
    failed_runs, failed_steps, failed_indexes, failed_attempts, failed_delays, failed, v_exhausted,
    v_done.flow_slugs, v_done.message_ids);
end;
$$;
