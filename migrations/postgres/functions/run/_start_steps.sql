-- A message and a task per element for steps that have just become 'started'.
create or replace function pgflow._start_steps(run_ids uuid[], step_slugs text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue record;
begin
  for v_queue in
    select d.flow_slug, coalesce(d.opt_start_delay, 0) as delay, d.step_type = 'map' as is_map,
           array_agg(k.run_id) as run_ids, array_agg(k.step_slug) as step_slugs
      from unnest(run_ids, step_slugs) with ordinality k(run_id, step_slug, n)
      cross join lateral (select r.flow_slug from pgflow.runs r where r.run_id = k.run_id offset 0) r
      join pgflow.steps d on d.flow_slug = r.flow_slug and d.step_slug = k.step_slug
     group by 1, 2, 3 order by 1, 2, 3
  loop
    if v_queue.is_map then
      perform pgflow._spawn_map_tasks(v_queue.flow_slug, v_queue.run_ids, v_queue.step_slugs, v_queue.delay);
    else
      perform pgflow._spawn_tasks(v_queue.flow_slug, v_queue.run_ids, v_queue.step_slugs, v_queue.delay);
    end if;
  end loop;
end;
$$;
