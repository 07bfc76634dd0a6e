-- What a step whose tasks are all completed puts out: the one task's output or, for a map, all.
create or replace function pgflow._step_output(flow_slug text, run_id uuid, step_slug text) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when d.step_type = 'map'
      then to_jsonb(array_agg(t.output order by t.task_index))
      else (array_agg(t.output order by t.task_index))[1] end
    from pgflow.step_tasks t
    join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
   where t.run_id = _step_output.run_id and t.step_slug = _step_output.step_slug
     and t.flow_slug = _step_output.flow_slug
   group by d.step_type
$$;
