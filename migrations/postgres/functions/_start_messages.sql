-- Starts the queued tasks that locked messages stand for, and returns what the update changed. A map
-- task gets its element; any other the run's input and the outputs of its completed dependencies.
--
-- A task that somebody holds a lock on is left alone: messages are locked before tasks here and
-- after them everywhere else, so a claim must wait for no task.
create or replace function pgflow._start_messages(flow_slug text, msg_ids bigint[], bodies jsonb[], worker_id uuid)
returns setof pgflow.step_task_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform pgflow._check_worker(_start_messages.worker_id);
  return query
    with step as materialized (
      -- What the tasks of a step have in common is looked up once.
      select k.run_id, k.step_slug, k.indexes, k.ids, coalesce(d.opt_timeout, f.opt_timeout) as timeout,
             case when d.step_type = 'single' then
               jsonb_build_object('run', r.input) || coalesce((
                 select jsonb_object_agg(p.step_slug, p.output)
                   from pgflow.deps e
                   join pgflow.step_states p on p.run_id = k.run_id and p.step_slug = e.dep_slug
                  where e.flow_slug = d.flow_slug and e.step_slug = d.step_slug and p.status = 'completed'
               ), '{}')
             end as input
        from (
          select m.run_id, m.step_slug, array_agg(m.task_index) as indexes, array_agg(m.msg_id) as ids
            from pgflow._tasks_of_messages(_start_messages.msg_ids, _start_messages.bodies) m
           group by 1, 2 order by 1, 2
        ) k
        join pgflow.runs r on r.run_id = k.run_id and r.status = 'started'
        join pgflow.step_states s on s.run_id = k.run_id and s.step_slug = k.step_slug and s.status = 'started'
        join pgflow.steps d on d.flow_slug = _start_messages.flow_slug and d.step_slug = k.step_slug
        join pgflow.flows f on f.flow_slug = d.flow_slug
    ), item as materialized (
      -- One relation with the whole key: from two, the plan might search by a part of it.
      select k.run_id, k.step_slug, i.task_index, i.msg_id, k.timeout, k.input
        from step k cross join lateral unnest(k.indexes, k.ids) i(task_index, msg_id)
    ), free as materialized (
      select t.run_id, t.step_slug, t.task_index, i.timeout, i.input
        from item i
        join pgflow.step_tasks t
          on t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index
       where t.message_id = i.msg_id and t.flow_slug = _start_messages.flow_slug and t.status = 'queued'
         for no key update of t skip locked
    )
    update pgflow.step_tasks t
       set status = 'started', started_at = greatest(now(), t.queued_at), attempts_count = t.attempts_count + 1,
           last_worker_id = _start_messages.worker_id, lease_until = null
      from free k
     where t.run_id = k.run_id and t.step_slug = k.step_slug and t.task_index = k.task_index
    returning t.flow_slug, t.run_id, t.step_slug, coalesce(k.input, t.input), t.message_id, t.task_index,
              t.attempts_count, k.timeout;
end;
$$;
