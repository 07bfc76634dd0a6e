-- A task per element of the array each map step works on. The array is opened once, here.
create or replace function pgflow._spawn_map_tasks(flow_slug text, run_ids uuid[], step_slugs text[], delay int)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_step record;
  v_elements jsonb[];
begin
  for v_step in
    select k.run_id, k.step_slug, coalesce(p.output, r.input) as elements
      from unnest(run_ids, step_slugs) k(run_id, step_slug)
      join pgflow.runs r on r.run_id = k.run_id
      left join pgflow.deps e
        on e.flow_slug = _spawn_map_tasks.flow_slug and e.step_slug = k.step_slug
      left join pgflow.step_states p on p.run_id = k.run_id and p.step_slug = e.dep_slug
     order by k.run_id, k.step_slug
  loop
    v_elements := array(select jsonb_array_elements(v_step.elements));
    perform pgflow._spawn_tasks(
      _spawn_map_tasks.flow_slug,
      array_fill(v_step.run_id, array[cardinality(v_elements)]),
      array_fill(v_step.step_slug, array[cardinality(v_elements)]),
      array(select generate_series(0, cardinality(v_elements) - 1)),
      v_elements,
      _spawn_map_tasks.delay
    );
  end loop;
end;
$$;
