-- Takes completed tasks off their steps' counters, once per step. A step that reaches 0 completes,
-- with the output of its task or, for a map, all outputs in task order.
create or replace function pgflow._count_down_steps(
  p_run_ids uuid[],
  p_step_slugs text[],
  out run_ids uuid[],
  out step_slugs text[]
)
language sql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
  with done as (
    select k.run_id, k.step_slug, count(*)::int as tasks
      from unnest(p_run_ids, p_step_slugs) k(run_id, step_slug)
     group by 1, 2
  ), counted as (
    update pgflow.step_states s
       set remaining_tasks = s.remaining_tasks - done.tasks,
           status = case when s.remaining_tasks = done.tasks then 'completed' else s.status end,
           completed_at = case when s.remaining_tasks = done.tasks then now() end,
           output = case when s.remaining_tasks = done.tasks then pgflow._step_output(s.flow_slug, s.run_id, s.step_slug) end
      from done
     where s.run_id = done.run_id and s.step_slug = done.step_slug
    returning s.run_id, s.step_slug, s.status
  )
  select array_agg(c.run_id), array_agg(c.step_slug) from counted c where c.status = 'completed'
$$;
