-- What a single step is given, where that is large: the run's input and the outputs of its completed dependencies, without
-- writing them as text on the way. Who `fetches` gets, instead of the outputs, the kinds of the steps under a
-- name that no step can have, and reads them page by page (get_step_outputs): a value of 240 MB takes a statement many seconds.
create or replace function pgflow._heavy_input(flow_slug text, run_id uuid, step_slug text, fetches boolean) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_names text[];
  v_values jsonb[];
begin
  select array['run'] || case when fetches then array['pgflow:left_out'] else array_agg(p.step_slug) end,
         (select r.input from pgflow.runs r where r.run_id = _heavy_input.run_id)
           || case when fetches then array[json_object_agg(p.step_slug, d.step_type)::jsonb] else array_agg(p.output) end
    into v_names, v_values
    from pgflow.deps e
    join pgflow.step_states p on p.run_id = _heavy_input.run_id and p.step_slug = e.dep_slug
    join pgflow.steps d on d.flow_slug = e.flow_slug and d.step_slug = e.dep_slug
   where e.flow_slug = _heavy_input.flow_slug and e.step_slug = _heavy_input.step_slug and p.status = 'completed';
  return pgflow._object_of(v_names, v_values);
end;
$$;
