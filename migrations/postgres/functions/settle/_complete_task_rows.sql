-- Stores the outputs of tasks that run and whose attempt is the given one.
-- Returns the items (by position) that were applied, their keys and their messages.
create or replace function pgflow._complete_task_rows(
  p_run_ids uuid[],
  p_step_slugs text[],
  p_task_indexes int[],
  p_outputs jsonb[],
  p_attempts int[],
  out items int[],
  out run_ids uuid[],
  out step_slugs text[],
  out flow_slugs text[],
  out message_ids bigint[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  with live as materialized (
    -- Looked up once per step, not once per task.
    select k.run_id, k.step_slug
      from (select distinct k.run_id, k.step_slug from unnest(p_run_ids, p_step_slugs) k(run_id, step_slug)) k
      cross join lateral (select from pgflow.runs r where r.run_id = k.run_id and r.status = 'started' offset 0) r
      cross join lateral (
        select from pgflow.step_states s where s.run_id = k.run_id and s.step_slug = k.step_slug and s.status = 'started' offset 0) s
  ), item as (
    select distinct on (i.run_id, i.step_slug, i.task_index) i.*
      from unnest(p_run_ids, p_step_slugs, p_task_indexes, p_outputs, p_attempts)
        with ordinality i(run_id, step_slug, task_index, output, attempt, n)
     order by i.run_id, i.step_slug, i.task_index, i.n
     -- The limit cuts nothing: the planner takes it for a few, and looks tasks up one by one, however few there were when it planned.
     limit cardinality(p_run_ids)
  ), applied as (
    update pgflow.step_tasks t
       set status = 'completed', completed_at = greatest(now(), t.started_at), output = i.output, input = null
      from item i
     where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index
       and t.status = 'started' and (i.attempt is null or t.attempts_count = i.attempt)
       and (i.run_id, i.step_slug) in (select l.run_id, l.step_slug from live l)
    returning i.n, t.run_id, t.step_slug, t.flow_slug, t.message_id
  )
  select array_agg(a.n::int), array_agg(a.run_id), array_agg(a.step_slug),
         array_agg(a.flow_slug), array_agg(a.message_id)
    into items, run_ids, step_slugs, flow_slugs, message_ids
    from applied a;
end;
$$;
