-- Completes tasks of any runs and moves the runs on. One outcome per item, in the order given:
-- applied, fenced (a newer attempt exists), already_settled, run_ended, unknown.
--
-- Locks are taken in one order by everybody: map steps by (run, step), then runs, whose lock covers
-- their other steps, then tasks by (run, step, index), then messages by (flow, id). A run is locked
-- only when one of its steps may end, so that the tasks of a wide map do not queue for it.
create or replace function pgflow.complete_tasks(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  outputs jsonb[],
  attempts int[] default null
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
  v_feeds_map boolean;
  v_done record;
begin
  perform pgflow._check_results(run_ids, step_slugs, task_indexes, outputs, v_attempts);
  -- Only maps have tasks with other indexes than 0.
  if 0 < any (task_indexes) and run_ids[1] = all (run_ids) and step_slugs[1] = all (step_slugs) then
    select * into v_done
      from pgflow._complete_part_of_map(run_ids[1], step_slugs[1], task_indexes, outputs, v_attempts);
    if v_done.items is not null then
      perform pgmq.archive(v_done.flow_slug, v_done.message_ids) where v_done.flow_slug is not null;
      return query select * from pgflow._outcomes(run_ids, step_slugs, task_indexes, v_attempts, v_done.items);
      return;
    end if;
  end if;
  v_feeds_map := pgflow._lock_steps_to_complete(run_ids, step_slugs);
  select * into v_done
    from pgflow._complete_work(run_ids, step_slugs, task_indexes, outputs, v_attempts, v_feeds_map);
  perform pgflow._archive_messages(v_done.flow_slugs, v_done.message_ids);
  return query select * from pgflow._outcomes(run_ids, step_slugs, task_indexes, v_attempts, v_done.items);
end;
$$;
