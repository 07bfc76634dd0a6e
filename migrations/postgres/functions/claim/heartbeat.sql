-- Says that tasks are still being worked on. Per item: extended, lost (another attempt has it, or
-- it is over), or cancelled (its run has ended).
create or replace function pgflow.heartbeat(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  attempts int[],
  worker_id uuid default null
) returns table (run_id uuid, step_slug text, task_index int, outcome text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  v_outcomes text[] := array_fill('lost'::text, array[coalesce(cardinality(run_ids), 0)]);
  v_queue record;
  v_item int;
begin
  perform pgflow._check_batch(run_ids, step_slugs, task_indexes, coalesce(cardinality(run_ids), 0), attempts);
  update pgflow.workers w set last_heartbeat_at = clock_timestamp() where w.worker_id = heartbeat.worker_id;

  for v_queue in
    with item as (
      select i.*, r.flow_slug, r.status as run_status, s.status as step_status
        from unnest(run_ids, step_slugs, task_indexes, attempts)
          with ordinality i(run_id, step_slug, task_index, attempt, n)
        cross join lateral (select r.flow_slug, r.status from pgflow.runs r where r.run_id = i.run_id offset 0) r
        cross join lateral (select s.status from pgflow.step_states s where s.run_id = i.run_id and s.step_slug = i.step_slug offset 0) s
       order by i.run_id, i.step_slug, i.task_index
       -- The limit cuts nothing: the planner takes it for a few, and looks tasks up one by one, however few there were when it planned.
       limit cardinality(run_ids)
    ), extended as (
      update pgflow.step_tasks t
         set lease_until = clock_timestamp() + make_interval(secs => coalesce(d.opt_timeout, f.opt_timeout)::float8 + pgflow._lease_grace())
        from item i
        join pgflow.steps d on d.flow_slug = i.flow_slug and d.step_slug = i.step_slug
        join pgflow.flows f on f.flow_slug = i.flow_slug
       where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index
         and t.status = 'started' and t.attempts_count = i.attempt
         and i.run_status = 'started' and i.step_status = 'started'
      returning i.n, t.flow_slug, t.message_id, least(coalesce(d.opt_timeout, f.opt_timeout), 2147483647 - pgflow._lease_grace()) + pgflow._lease_grace() as seconds
    )
    select 'extended' as outcome, e.flow_slug, array_agg(e.n::int) as items,
           array_agg(e.message_id) as ids, array_agg(e.seconds) as seconds
      from extended e group by e.flow_slug
    union all
    select 'cancelled', null, array_agg(i.n::int), null, null
      from item i where i.run_status in ('failed', 'cancelled')
    order by 2
  loop
    foreach v_item in array coalesce(v_queue.items, '{}') loop
      v_outcomes[v_item] := v_queue.outcome;
    end loop;
    perform pgflow.set_vt_batch(v_queue.flow_slug, v_queue.ids, v_queue.seconds);
  end loop;
  return query select * from unnest(run_ids, step_slugs, task_indexes, v_outcomes);
end;
$$;
