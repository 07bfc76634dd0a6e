-- Tells the dependents of steps that were skipped that they need not wait for those. A map step
-- whose only dependency was skipped has nothing to map over: it gets no tasks.
create or replace function pgflow._release_dependents(run_id uuid, step_slugs text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update pgflow.step_states s
     set remaining_deps = s.remaining_deps - e.parents,
         initial_tasks = case when d.step_type = 'map' then 0 else s.initial_tasks end
    from (
      select e.flow_slug, e.step_slug, count(*)::int as parents
        from pgflow.runs r
        join pgflow.deps e on e.flow_slug = r.flow_slug
       where r.run_id = _release_dependents.run_id and e.dep_slug = any (step_slugs)
       group by 1, 2
    ) e
    join pgflow.steps d on d.flow_slug = e.flow_slug and d.step_slug = e.step_slug
   where s.run_id = _release_dependents.run_id and s.step_slug = e.step_slug and s.status = 'created';
end;
$$;
