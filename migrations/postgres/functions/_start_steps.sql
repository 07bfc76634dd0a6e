-- For steps that have just become 'started': an event each, a message and a task per element.
create or replace function pgflow._start_steps(run_ids uuid[], step_slugs text[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_queue record;
begin
  perform pgflow._record_events(
    'step:started',
    array_agg(s.run_id order by s.run_id, d.step_index),
    array_agg(s.step_slug order by s.run_id, d.step_index),
    array_agg(jsonb_build_object(
      'step_slug', s.step_slug, 'status', s.status, 'started_at', s.started_at,
      'remaining_tasks', s.remaining_tasks, 'remaining_deps', s.remaining_deps
    ) order by s.run_id, d.step_index)
  )
  from unnest(run_ids, step_slugs) k(run_id, step_slug)
  join pgflow.step_states s on s.run_id = k.run_id and s.step_slug = k.step_slug
  join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug;

  for v_queue in
    select d.flow_slug, coalesce(d.opt_start_delay, 0) as delay, d.step_type = 'map' as is_map,
           array_agg(s.run_id) as run_ids, array_agg(s.step_slug) as step_slugs
      from unnest(run_ids, step_slugs) k(run_id, step_slug)
      join pgflow.step_states s on s.run_id = k.run_id and s.step_slug = k.step_slug
      join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
     group by 1, 2, 3 order by 1, 2, 3
  loop
    if v_queue.is_map then
      perform pgflow._spawn_map_tasks(v_queue.flow_slug, v_queue.run_ids, v_queue.step_slugs, v_queue.delay);
    else
      perform pgflow._spawn_tasks(v_queue.flow_slug, v_queue.run_ids, v_queue.step_slugs,
        array_fill(0, array[cardinality(v_queue.run_ids)]), null, v_queue.delay);
    end if;
  end loop;
end;
$$;
