-- The graph of a version with its options, in the form that ensure_flow_compiled takes, and the JSON Schema of its
-- input if a program has noted one. No row if it is not there.
create or replace function pgflow.get_flow_definition(flow_slug text)
returns table (shape jsonb, input_schema jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select
      jsonb_build_object(
        'options', pgflow._shape_options(to_jsonb(f)),
        'steps', coalesce((
          select to_jsonb(array_agg(
              step.shape || jsonb_build_object('options', pgflow._shape_options(to_jsonb(s)))
              order by s.step_index))
            from jsonb_array_elements(pgflow._get_flow_shape(f.flow_slug) -> 'steps') step(shape)
            join pgflow.steps s on s.flow_slug = f.flow_slug and s.step_slug = step.shape ->> 'slug'), '[]')),
      f.input_schema
    from pgflow.flows f
   where f.flow_slug = get_flow_definition.flow_slug;
end;
$$;
