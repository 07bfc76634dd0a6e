-- Starts runs that somebody waits for, and returns their ids.
create or replace function pgflow._start_child_runs(children jsonb) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_child record;
  v_flow text;
  v_id uuid;
  v_ids text[] := '{}';
begin
  for v_child in
    select c ->> 'flow' as flow, c -> 'input' as input, c ->> 'interface' as interface,
           case when jsonb_typeof(c -> 'versions') = 'array'
             then array(select v::int from jsonb_array_elements_text(c -> 'versions') v) end as versions
      from jsonb_array_elements(children) with ordinality e(c, n) order by e.n
  loop
    v_flow := pgflow._flow_to_start(v_child.flow, v_child.versions, v_child.interface);
    if not exists (select from pgflow.flows f where f.flow_slug = v_flow) then
      raise exception 'there is no flow `%`', v_child.flow using errcode = 'no_data_found';
    end if;
    if jsonb_typeof(v_child.input) <> 'array' and exists (
      select from pgflow.steps d where d.flow_slug = v_flow and d.step_type = 'map' and d.deps_count = 0
    ) then
      raise exception 'flow `%` maps over the run''s input, which must be an array and is %', v_child.flow, jsonb_typeof(v_child.input)
        using errcode = 'invalid_parameter_value';
    end if;
    select r.run_id into v_id from pgflow._start_version(v_flow, v_child.input, null) r;
    v_ids := v_ids || v_id::text;
  end loop;
  update pgflow.runs r set is_child = true where r.run_id = any (v_ids::uuid[]);
  return v_ids;
end;
$$;
