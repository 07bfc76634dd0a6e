-- Tasks of a flow that a worker has, with their attempts.
create or replace function pgflow._tasks_of_worker(flow_slug text, worker_id uuid)
returns table (run_id uuid, step_slug text, task_index int, attempt int)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select t.run_id, t.step_slug, t.task_index, t.attempts_count
      from pgflow._taken_tasks(_tasks_of_worker.flow_slug) m
      cross join lateral (
        select * from pgflow.step_tasks t
         where t.run_id = m.run_id and t.step_slug = m.step_slug and t.task_index = m.task_index and t.message_id = m.msg_id offset 0
      ) t
     where t.status = 'started' and t.last_worker_id = _tasks_of_worker.worker_id;
end;
$$;
