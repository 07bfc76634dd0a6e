-- What the tasks of a started step are doing: attempts that count, tasks that a worker has and the
-- first of those workers, what the open task that was tried most often failed with, why the first waits that
-- was given back for a reason, and when the next that waits may be claimed. Of more than 1,000 tasks only those are looked at
-- that _tasks_in_queue finds.
create or replace function pgflow._step_work(
  run_id uuid,
  flow_slug text,
  step_slug text,
  tasks int,
  out attempts int,
  out running int,
  out worker_id uuid,
  out last_error text,
  out yield_reason text,
  out next_at timestamptz
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_messages bigint[];
  v_some int[];
  v_queue text := pgmq.format_table_name(_step_work.flow_slug, 'q');
begin
  if _step_work.run_id is null then
    return;
  end if;
  if _step_work.tasks > 1000 then
    v_some := pgflow._tasks_in_queue(_step_work.run_id, _step_work.flow_slug, _step_work.step_slug);
  end if;
  select coalesce(sum(t.attempts_count - t.refunded_count), 0)::int,
         count(*) filter (where t.status = 'started')::int,
         (array_agg(t.last_worker_id order by t.task_index) filter (where t.status = 'started'))[1],
         (array_agg(t.error_message order by t.attempts_count - t.refunded_count desc, t.task_index)
            filter (where t.status <> 'completed' and t.error_message is not null))[1],
         (array_agg(t.yield_reason order by t.task_index)
            filter (where t.status = 'queued' and t.yielded_attempt = t.attempts_count))[1],
         array_agg(t.message_id) filter (where t.status = 'queued')
    into attempts, running, worker_id, last_error, yield_reason, v_messages
    from (
      select t.* from pgflow.step_tasks t
       where v_some is null and t.run_id = _step_work.run_id and t.step_slug = _step_work.step_slug
      union all
      select t.* from unnest(v_some) i(task_index)
       cross join lateral (
         select o.* from pgflow.step_tasks o
          where o.run_id = _step_work.run_id and o.step_slug = _step_work.step_slug and o.task_index = i.task_index
         offset 0) t
    ) t;
  if v_messages is not null then
    begin
      execute format('select min(m.vt) from pgmq.%I m where m.msg_id = any ($1)', v_queue)
         into next_at using v_messages;
    exception when undefined_table then
      -- The flow is being deleted.
      next_at := null;
    end;
  end if;
end;
$$;
