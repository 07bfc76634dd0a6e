-- Takes completed tasks off their steps' counters, `each` per item, once per step. A step that reaches 0
-- completes, with the output of its task or, for a map, all outputs in task order. Returns those, and whether
-- some may put out more than is allowed: a map that does has no output.
create or replace function pgflow._count_down_steps(
  p_run_ids uuid[],
  p_step_slugs text[],
  p_each int,
  out run_ids uuid[],
  out step_slugs text[],
  out may_exceed boolean
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  with done as (
    select k.run_id, k.step_slug, count(*)::int * p_each as tasks
      from unnest(p_run_ids, p_step_slugs) k(run_id, step_slug)
     group by 1, 2
  ), counted as (
    update pgflow.step_states s
       set remaining_tasks = s.remaining_tasks - done.tasks,
           status = case when s.remaining_tasks = done.tasks then 'completed' else s.status end,
           completed_at = case when s.remaining_tasks = done.tasks then greatest(now(), s.started_at) end,
           (output, output_bytes) = (
             select m.* from pgflow._map_output(s.run_id, s.step_slug) m
              where s.remaining_tasks = done.tasks and d.step_type = 'map'
             union all
             select t.output, null from pgflow.step_tasks t
              where t.run_id = s.run_id and t.step_slug = s.step_slug and t.task_index = 0
                and s.remaining_tasks = done.tasks and d.step_type <> 'map')
      from done, pgflow.steps d
     where s.run_id = done.run_id and s.step_slug = done.step_slug
       and d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
    returning s.run_id, s.step_slug, s.flow_slug, s.status, d.step_type = 'map' and s.output is null as is_excess
  )
  select array_agg(c.run_id), array_agg(c.step_slug), bool_or(c.is_excess) or exists (
    -- Asked once per flow: could its leaves put out too much together at all?
    select from (select distinct c.flow_slug from counted c where c.status = 'completed') f
     cross join lateral (
       select count(*) as steps, bool_or(d.step_type = 'map') as has_map
         from pgflow.steps d where d.flow_slug = f.flow_slug
     ) d
     where d.steps > 1
       and (d.has_map or (select d.steps * l.max_payload_bytes > l.max_output_bytes from pgflow.limits l)))
    into run_ids, step_slugs, may_exceed
    from counted c where c.status = 'completed';
end;
$$;
