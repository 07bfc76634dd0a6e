-- The inputs of tasks: a map task that is not completed has its element, any other task nothing.
create or replace function pgflow._check_task_inputs() returns table (invariant text, run_id uuid, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
-- Before the tables were ever analyzed, the planner may take it for cheap to look at all tasks for each element.
set enable_nestloop = off
set jit = off
as $$
  select 'task_input', t.run_id, format('task %s of %s keeps an input', t.task_index, t.step_slug)
    from pgflow.step_tasks t
    join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
   where t.input is not null and (t.status = 'completed' or d.step_type = 'single')
  union all
  -- Arrays are opened once per step: one by one, an element would cost as much as all.
  select 'task_input', t.run_id, format('the input of task %s of %s is not its element', t.task_index, t.step_slug)
    from (
      select s.run_id, s.step_slug, case when e.dep_slug is null then r.input else p.output end as elements
        from pgflow.step_states s
        join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug and d.step_type = 'map'
        join pgflow.runs r on r.run_id = s.run_id
        left join pgflow.deps e on e.flow_slug = d.flow_slug and e.step_slug = d.step_slug
        left join pgflow.step_states p on p.run_id = s.run_id and p.step_slug = e.dep_slug
       where s.status not in ('created', 'completed')
    ) m
    cross join lateral jsonb_array_elements(
      case when jsonb_typeof(m.elements) = 'array' then m.elements else '[]' end
    ) with ordinality element(value, n)
    join pgflow.step_tasks t on t.run_id = m.run_id and t.step_slug = m.step_slug and t.task_index = element.n - 1
   where t.status <> 'completed' and t.input is distinct from element.value
$$;
