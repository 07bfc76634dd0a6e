-- Completes tasks of one map step that does not end with them, which is what most results of a wide map are: nothing but its counter
-- moves, so all else that _complete_work looks at is left out. Returns what that does, or null items if it is for that to do.
--
-- Locks as complete_tasks says: the map step, then its tasks.
create or replace function pgflow._complete_part_of_map(
  p_run_id uuid,
  p_step_slug text,
  p_task_indexes int[],
  p_outputs jsonb[],
  p_attempts int[],
  out items int[],
  out flow_slug text,
  out message_ids bigint[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  -- Takes the step's lock, too. Only a map has more than one task to go.
  update pgflow.step_states s
     set remaining_tasks = s.remaining_tasks - cardinality(p_task_indexes)
   where s.run_id = p_run_id and s.step_slug = p_step_slug
     and s.status = 'started' and s.remaining_tasks > cardinality(p_task_indexes);
  if not found then
    return;
  end if;
  with item as (
    -- With the step's key: as constants they would make the planner begin with all its tasks.
    select distinct on (i.task_index) p_run_id as run_id, p_step_slug as step_slug, i.*
      from unnest(p_task_indexes, p_outputs, p_attempts) with ordinality i(task_index, output, attempt, n)
     order by i.task_index, i.n
     -- The limit cuts nothing: the planner takes it for a few, and looks tasks up one by one, however few there were when it planned.
     limit cardinality(p_task_indexes)
  ), applied as (
    update pgflow.step_tasks t
       set status = 'completed', completed_at = greatest(now(), t.started_at), output = i.output, input = null
      from item i
     where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index
       and t.status = 'started' and (i.attempt is null or t.attempts_count = i.attempt)
       and exists (select from pgflow.runs r where r.run_id = p_run_id and r.status = 'started')
    returning i.n, t.flow_slug, t.message_id
  )
  select coalesce(array_agg(a.n::int), '{}'), min(a.flow_slug), array_agg(a.message_id)
    into items, flow_slug, message_ids
    from applied a;
  if cardinality(items) < cardinality(p_task_indexes) then
    update pgflow.step_states s
       set remaining_tasks = s.remaining_tasks + cardinality(p_task_indexes) - cardinality(_complete_part_of_map.items)
     where s.run_id = p_run_id and s.step_slug = p_step_slug;
  end if;
end;
$$;
