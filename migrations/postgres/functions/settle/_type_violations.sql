-- Outputs that are no array although a map step waits to be given its tasks from them.
create or replace function pgflow._type_violations(run_ids uuid[], step_slugs text[], outputs jsonb[])
returns table (run_id uuid, step_slug text, map_slug text, produced text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select i.run_id, i.step_slug, m.step_slug, coalesce(jsonb_typeof(i.output), 'null')
      from unnest(run_ids, step_slugs, outputs) i(run_id, step_slug, output)
      join pgflow.step_states s on s.run_id = i.run_id and s.step_slug = i.step_slug and s.status = 'started'
      join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug and d.step_type = 'single'
      join pgflow.deps e on e.flow_slug = s.flow_slug and e.dep_slug = s.step_slug
      join pgflow.steps m on m.flow_slug = e.flow_slug and m.step_slug = e.step_slug and m.step_type = 'map'
      join pgflow.step_states ms on ms.run_id = i.run_id and ms.step_slug = m.step_slug and ms.initial_tasks is null
     where i.output is null or jsonb_typeof(i.output) <> 'array'
     order by i.run_id, i.step_slug, m.step_index;
end;
$$;
