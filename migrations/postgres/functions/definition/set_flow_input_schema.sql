-- Notes the JSON Schema of what runs of a version are given. Workers say so when they start; the last one counts.
create or replace function pgflow.set_flow_input_schema(flow_slug text, input_schema jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update pgflow.flows f set input_schema = set_flow_input_schema.input_schema
   where f.flow_slug = set_flow_input_schema.flow_slug
     and f.input_schema is distinct from set_flow_input_schema.input_schema;
end;
$$;
