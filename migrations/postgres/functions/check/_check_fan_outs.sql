-- Steps and their tasks: as many as there are elements, without gaps, counted down as they end.
create or replace function pgflow._check_fan_outs() returns table (invariant text, run_id uuid, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'step_tasks_planned', s.run_id,
         format('initial_tasks of %s is %s instead of %s', s.step_slug, s.initial_tasks, planned.tasks)
    from pgflow.step_states s
    join pgflow.runs r on r.run_id = s.run_id
    join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
    left join pgflow.deps e on e.flow_slug = d.flow_slug and e.step_slug = d.step_slug and d.step_type = 'map'
    left join pgflow.step_states p on p.run_id = s.run_id and p.step_slug = e.dep_slug
    left join pgflow.steps pd on pd.flow_slug = p.flow_slug and pd.step_slug = p.step_slug
    cross join lateral (
      select case
        when d.step_type = 'single' then 1
        when e.dep_slug is null then case when jsonb_typeof(r.input) = 'array' then jsonb_array_length(r.input) end
        when p.status = 'skipped' then 0
        when p.status <> 'completed' then null
        when pd.step_type = 'map' then p.initial_tasks
        when jsonb_typeof(p.output) = 'array' then jsonb_array_length(p.output)
      end as tasks
    ) planned
   where s.initial_tasks is distinct from planned.tasks
     -- A map that was skipped early never got to know.
     and not (s.status = 'skipped' and s.initial_tasks is null and e.dep_slug is not null)
  union all
  select 'step_tasks_counter', s.run_id,
         format('remaining_tasks of %s is %s, but %s tasks are open', s.step_slug, s.remaining_tasks, open.tasks)
    from pgflow.step_states s
    cross join lateral (
      select count(*) as tasks from pgflow.step_tasks t
       where t.run_id = s.run_id and t.step_slug = s.step_slug and t.status <> 'completed'
    ) open
   where (s.status in ('started', 'completed') and s.remaining_tasks is distinct from open.tasks)
      or (s.status = 'failed' and coalesce(s.remaining_tasks, 0) <> open.tasks)
  union all
  select 'step_tasks_number', s.run_id,
         format('step %s has %s tasks, initial_tasks says %s', s.step_slug, there.tasks, s.initial_tasks)
    from pgflow.step_states s
    cross join lateral (
      select count(*) as tasks, min(t.task_index) as first, max(t.task_index) as last
        from pgflow.step_tasks t where t.run_id = s.run_id and t.step_slug = s.step_slug
    ) there
   where there.tasks <> case
       when s.status in ('started', 'completed') then s.initial_tasks
       when s.status = 'failed' and s.remaining_tasks is not null then s.initial_tasks
       -- Skipped while it ran, or before.
       when s.status = 'skipped' and there.tasks > 0 then coalesce(s.initial_tasks, 0)
       else 0 end
      or (there.tasks > 0 and (there.first, there.last) <> (0, there.tasks - 1))
  union all
  select 'step_output', s.run_id, format('output of %s is not that of its tasks', s.step_slug)
    from pgflow.step_states s
    join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
   where s.status = 'completed'
     and s.output is distinct from case
       when s.initial_tasks > 0 then pgflow._step_output(s.flow_slug, s.run_id, s.step_slug)
       when d.step_type = 'map' then '[]' end
$$;
