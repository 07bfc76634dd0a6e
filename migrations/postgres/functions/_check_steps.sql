-- Steps: every run has each, their counters equal a recount, they ran in dependency order.
create or replace function pgflow._check_steps() returns table (invariant text, run_id uuid, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'step_orphan', s.run_id, format('step %s has no run or no definition', s.step_slug)
    from pgflow.step_states s
   where not exists (select from pgflow.runs r where r.run_id = s.run_id and r.flow_slug = s.flow_slug)
      or not exists (
        select from pgflow.steps d where d.flow_slug = s.flow_slug and d.step_slug = s.step_slug)
  union all
  select 'step_deps_counter', s.run_id,
         format('remaining_deps of %s is %s, but %s dependencies are open', s.step_slug, s.remaining_deps, open.deps)
    from pgflow.step_states s
    cross join lateral (
      select count(*) as deps from pgflow.deps e
        join pgflow.step_states p on p.run_id = s.run_id and p.step_slug = e.dep_slug
       where e.flow_slug = s.flow_slug and e.step_slug = s.step_slug and p.status not in ('completed', 'skipped')
    ) open
   where s.status in ('created', 'started', 'completed') and s.remaining_deps <> open.deps
  union all
  select 'step_tasks_counter', s.run_id,
         format('remaining_tasks of %s is %s, but %s tasks are open', s.step_slug, s.remaining_tasks, open.tasks)
    from pgflow.step_states s
    cross join lateral (
      select count(*) as tasks from pgflow.step_tasks t
       where t.run_id = s.run_id and t.step_slug = s.step_slug and t.status <> 'completed'
    ) open
   where s.status in ('started', 'completed') and s.remaining_tasks <> open.tasks
  union all
  select 'step_tasks_number', s.run_id,
         format('step %s has %s tasks, initial_tasks says %s', s.step_slug, there.tasks, s.initial_tasks)
    from pgflow.step_states s
    cross join lateral (
      select count(*) as tasks from pgflow.step_tasks t where t.run_id = s.run_id and t.step_slug = s.step_slug
    ) there
   where there.tasks <> case when s.status in ('started', 'completed') then s.initial_tasks
                             when s.status = 'created' then 0 else there.tasks end
  union all
  select 'step_ready_but_idle', s.run_id, format('step %s waits for nothing, yet has not started', s.step_slug)
    from pgflow.step_states s
    join pgflow.runs r on r.run_id = s.run_id and r.status = 'started'
   where s.status = 'created' and s.remaining_deps = 0
  union all
  select 'step_output', s.run_id, format('output of %s is not that of its tasks', s.step_slug)
    from pgflow.step_states s
   where s.status = 'completed' and s.initial_tasks > 0
     and s.output is distinct from pgflow._step_output(s.flow_slug, s.run_id, s.step_slug)
$$;
