-- Starts the queued tasks that locked messages stand for, and returns what the update changed. A map
-- task gets its element; any other the run's input and the outputs of its completed dependencies.
--
-- A task that somebody holds a lock on is left alone: messages are locked before tasks here and
-- after them everywhere else, so a claim must wait for no task.
create or replace function pgflow._start_messages(flow_slug text, msg_ids bigint[], bodies jsonb[], worker_id uuid)
returns setof pgflow.step_task_record
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
begin
  perform pgflow._check_worker(_start_messages.worker_id);
  return query
    with free as materialized (
      select t.run_id, t.step_slug, t.task_index
        from pgflow._tasks_of_messages(_start_messages.msg_ids, _start_messages.bodies) m
        join pgflow.step_tasks t
          on t.run_id = m.run_id and t.step_slug = m.step_slug and t.task_index = m.task_index
       where t.message_id = m.msg_id and t.flow_slug = _start_messages.flow_slug and t.status = 'queued'
         -- Look-ups, not joins: a plan for any number of rows must not start from all runs.
         and (select r.status from pgflow.runs r where r.run_id = m.run_id) = 'started'
         and (
           select s.status from pgflow.step_states s where s.run_id = m.run_id and s.step_slug = m.step_slug
         ) = 'started'
         for no key update of t skip locked
    ), started as (
      update pgflow.step_tasks t
         set status = 'started', started_at = greatest(now(), t.queued_at), attempts_count = t.attempts_count + 1,
             last_worker_id = _start_messages.worker_id, lease_until = null
        from free k
       where t.run_id = k.run_id and t.step_slug = k.step_slug and t.task_index = k.task_index
      returning t.flow_slug, t.run_id, t.step_slug, t.input, t.message_id, t.task_index, t.attempts_count
    )
    select
      t.flow_slug, t.run_id, t.step_slug,
      case when d.step_type = 'map' then t.input else
        jsonb_build_object('run', r.input) || coalesce((
          select jsonb_object_agg(p.step_slug, p.output)
            from pgflow.deps e
            join pgflow.step_states p on p.run_id = t.run_id and p.step_slug = e.dep_slug
           where e.flow_slug = t.flow_slug and e.step_slug = t.step_slug and p.status = 'completed'
        ), '{}')
      end,
      t.message_id, t.task_index, t.attempts_count, coalesce(d.opt_timeout, f.opt_timeout)
    from started t
    join pgflow.runs r on r.run_id = t.run_id
    join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
    join pgflow.flows f on f.flow_slug = t.flow_slug;
end;
$$;
