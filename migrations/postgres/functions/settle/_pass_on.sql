-- Counts completed steps off their dependents, gives dependent maps their number of tasks, and
-- starts those that are ready, all in one version of each row. Where a ready step has a condition
-- or no tasks, its run is returned as undecided instead and nothing in it starts yet.
create or replace function pgflow._pass_on(
  p_run_ids uuid[],
  p_step_slugs text[],
  out run_ids uuid[],
  out step_slugs text[],
  out step_indexes int[],
  out undecided uuid[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  with dependent as (
    select p.run_id, p.flow_slug, e.step_slug, count(*)::int as parents,
           max(case
             when d.step_type = 'map' then p.initial_tasks
             when jsonb_typeof(p.output) = 'array' then jsonb_array_length(p.output)
           end) as elements
      from unnest(p_run_ids, p_step_slugs) k(run_id, step_slug)
      join pgflow.step_states p on p.run_id = k.run_id and p.step_slug = k.step_slug
      join pgflow.steps d on d.flow_slug = p.flow_slug and d.step_slug = p.step_slug
      join pgflow.deps e on e.flow_slug = p.flow_slug and e.dep_slug = p.step_slug
     group by 1, 2, 3
  ), planned as materialized (
    select s.run_id, s.step_slug, d.step_index, s.remaining_deps - c.parents as remaining_deps,
           coalesce(s.initial_tasks, c.elements) as initial_tasks,
           s.remaining_deps = c.parents as is_ready,
           bool_or(s.remaining_deps = c.parents and (
             coalesce(s.initial_tasks, c.elements, 0) = 0
             or num_nonnulls(d.required_input_pattern, d.forbidden_input_pattern) > 0
           )) over (partition by s.run_id) as is_undecided
      from dependent c
      join pgflow.step_states s on s.run_id = c.run_id and s.step_slug = c.step_slug and s.status = 'created'
      join pgflow.steps d on d.flow_slug = c.flow_slug and d.step_slug = c.step_slug
  ), changed as (
    update pgflow.step_states s
       set remaining_deps = p.remaining_deps,
           initial_tasks = p.initial_tasks,
           status = case when p.is_ready and not p.is_undecided then 'started' else 'created' end,
           started_at = case when p.is_ready and not p.is_undecided then greatest(now(), s.created_at) end,
           remaining_tasks = case when p.is_ready and not p.is_undecided then p.initial_tasks end
      from planned p
     where s.run_id = p.run_id and s.step_slug = p.step_slug
    returning s.run_id, s.step_slug, p.step_index, s.status, p.is_undecided
  )
  select
    array_agg(c.run_id) filter (where c.status = 'started'),
    array_agg(c.step_slug) filter (where c.status = 'started'),
    array_agg(c.step_index) filter (where c.status = 'started'),
    array_agg(distinct c.run_id) filter (where c.is_undecided)
    into run_ids, step_slugs, step_indexes, undecided
    from changed c;
end;
$$;
