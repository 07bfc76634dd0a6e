-- Tasks of a flow that a worker has, with their attempts. They are found from the messages that
-- somebody has taken, as _stalled_tasks does.
create or replace function pgflow._tasks_of_worker(flow_slug text, worker_id uuid)
returns table (run_id uuid, step_slug text, task_index int, attempt int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids bigint[];
  v_bodies jsonb[];
begin
  execute format('select array_agg(msg_id), array_agg(message) from pgmq.%I where read_ct > 0',
                 pgmq.format_table_name(_tasks_of_worker.flow_slug, 'q'))
    into v_ids, v_bodies;
  return query
    select t.run_id, t.step_slug, t.task_index, t.attempts_count
      from pgflow._tasks_of_messages(v_ids, v_bodies) m
      join pgflow.step_tasks t
        on t.run_id = m.run_id and t.step_slug = m.step_slug and t.task_index = m.task_index
       and t.message_id = m.msg_id
     where t.status = 'started' and t.last_worker_id = _tasks_of_worker.worker_id;
end;
$$;
