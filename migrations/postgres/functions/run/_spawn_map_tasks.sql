-- A task per element of the array each map step works on, with its message. The array is opened once, here.
--
-- Claims take what has been visible longest. So that a wide map does not stand before everything that
-- comes after it, its tasks behind the first sixteen go to a lane of their own, a century back in time:
-- claims tell it by that. There, a second of precedence per element lets a newer map catch up.
create or replace function pgflow._spawn_map_tasks(flow_slug text, run_ids uuid[], step_slugs text[], delay int)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue text := pgmq.format_table_name(_spawn_map_tasks.flow_slug, 'q');
  v_step record;
begin
  for v_step in
    select k.run_id, k.step_slug, coalesce(p.output, r.input) as elements
      from unnest(run_ids, step_slugs) k(run_id, step_slug)
      cross join lateral (select r.input from pgflow.runs r where r.run_id = k.run_id offset 0) r
      left join pgflow.deps e
        on e.flow_slug = _spawn_map_tasks.flow_slug and e.step_slug = k.step_slug
      left join pgflow.step_states p on p.run_id = k.run_id and p.step_slug = e.dep_slug
     order by k.run_id, k.step_slug
  loop
    execute format(
      'with task as materialized (
         select t.element, t.n::int - 1 as index, nextval(%2$L) as id
           from jsonb_array_elements($1) with ordinality t(element, n)
       ), sent as (
         insert into pgmq.%1$I (msg_id, vt, message) overriding system value
         select t.id,
                case when $5 = 0 and t.index >= $7 then $6 - $8 + t.index * interval ''1 second''
                  else $6 + make_interval(secs => $5) end,
                jsonb_build_object(''flow_slug'', $2, ''run_id'', $3, ''step_slug'', $4, ''task_index'', t.index)
           from task t
       )
       insert into pgflow.step_tasks (flow_slug, run_id, step_slug, task_index, input, message_id)
       select $2, $3, $4, t.index, t.element, t.id from task t',
      v_queue, pg_get_serial_sequence(format('pgmq.%I', v_queue), 'msg_id')
    ) using v_step.elements, _spawn_map_tasks.flow_slug, v_step.run_id, v_step.step_slug, _spawn_map_tasks.delay,
            clock_timestamp(), pgflow._bulk_from(), pgflow._bulk_lane();
  end loop;
end;
$$;
