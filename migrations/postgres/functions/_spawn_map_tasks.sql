-- A task per element of the array each map step works on. The array is opened once, here.
create or replace function pgflow._spawn_map_tasks(flow_slug text, run_ids uuid[], step_slugs text[], delay int)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_step record;
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
    insert into pgflow.step_tasks (flow_slug, run_id, step_slug, task_index, input, message_id)
    select _spawn_map_tasks.flow_slug, v_step.run_id, v_step.step_slug, t.n - 1, t.element, t.message_id
      from rows from (
        jsonb_array_elements(v_step.elements),
        pgmq.send_batch(
          _spawn_map_tasks.flow_slug,
          array(
            select jsonb_build_object('flow_slug', _spawn_map_tasks.flow_slug, 'run_id', v_step.run_id,
                                      'step_slug', v_step.step_slug, 'task_index', i)
              from generate_series(0, jsonb_array_length(v_step.elements) - 1) i
          ),
          null::jsonb[],
          clock_timestamp() + make_interval(secs => _spawn_map_tasks.delay)
        )
      ) with ordinality t(element, message_id, n);
  end loop;
end;
$$;
