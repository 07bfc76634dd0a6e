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
  v_locked record;
  v_applied record;
  v_ended record;
  v_undecided uuid[];
begin
  perform pgflow._check_batch(run_ids, step_slugs, task_indexes, cardinality(outputs), v_attempts);
  perform pgflow._check_payload(o.output, format('the output of task %s of step %s', o.task_index, o.step_slug))
    from unnest(outputs, step_slugs, task_indexes) o(output, step_slug, task_index)
   where pg_column_size(o.output) >= 800 or pg_column_compression(o.output) is not null;

  select * into v_locked from pgflow._lock_steps_to_complete(run_ids, step_slugs);
  if v_locked.feeds_map then
    if exists (select from pgflow._type_violations(run_ids, step_slugs, outputs)) then
      return query select * from pgflow._complete_one_by_one(run_ids, step_slugs, task_indexes, outputs, v_attempts);
      return;
    end if;
    perform pgflow._check_fanouts(run_ids, step_slugs, outputs);
  end if;

  select * into v_applied from pgflow._complete_task_rows(run_ids, step_slugs, task_indexes, outputs, v_attempts);
  if v_applied.items is not null then
    select * into v_ended from pgflow._count_down_steps(v_applied.run_ids, v_applied.step_slugs);
    if v_ended.run_ids is not null then
      v_undecided := pgflow._finish_steps(v_ended.run_ids, v_ended.step_slugs);
    end if;
  end if;

  if v_undecided is not null or cardinality(run_ids) > coalesce(cardinality(v_applied.items), 0) then
    perform pgflow._archive_messages(
      v_applied.flow_slugs || array_agg(m.flow_slug), v_applied.message_ids || array_agg(m.message_id))
      from (
        select * from pgflow._dead_messages(v_undecided)
        union all
        select * from pgflow._late_messages(run_ids, step_slugs, task_indexes, v_attempts)
      ) m;
  else
    perform pgflow._archive_messages(v_applied.flow_slugs, v_applied.message_ids);
  end if;
  return query select * from pgflow._outcomes(run_ids, step_slugs, task_indexes, v_attempts, v_applied.items);
end;
$$;
