-- Takes completed tasks off their steps' counters, once per step. A step that reaches 0 completes,
-- with the output of its task or, for a map, all outputs in task order.
create or replace function pgflow._count_down_steps(
  p_run_ids uuid[],
  p_step_slugs text[],
  out run_ids uuid[],
  out step_slugs text[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  with done as (
    select k.run_id, k.step_slug, count(*)::int as tasks
      from unnest(p_run_ids, p_step_slugs) k(run_id, step_slug)
     group by 1, 2
  ), counted as (
    update pgflow.step_states s
       set remaining_tasks = s.remaining_tasks - done.tasks,
           status = case when s.remaining_tasks = done.tasks then 'completed' else s.status end,
           completed_at = case when s.remaining_tasks = done.tasks then greatest(now(), s.started_at) end,
           output = case when s.remaining_tasks <> done.tasks then null
             when d.step_type = 'map' then (
               select jsonb_agg(t.output order by t.task_index) from pgflow.step_tasks t
                where t.run_id = s.run_id and t.step_slug = s.step_slug)
             else (
               select t.output from pgflow.step_tasks t
                where t.run_id = s.run_id and t.step_slug = s.step_slug and t.task_index = 0)
             end
      from done, pgflow.steps d
     where s.run_id = done.run_id and s.step_slug = done.step_slug
       and d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
    returning s.run_id, s.step_slug, s.status
  )
  select array_agg(c.run_id), array_agg(c.step_slug) into run_ids, step_slugs
    from counted c where c.status = 'completed';
end;
$$;
