-- Tasks of a step among the first and the last 500 messages of its flow's queue, by when they can be seen: those that wait
-- longest, and those that were handed out or delayed. Messages of other steps and runs count, so that a look costs the same
-- however many there are.
create or replace function pgflow._tasks_in_queue(run_id uuid, flow_slug text, step_slug text) returns int[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue text := pgmq.format_table_name(_tasks_in_queue.flow_slug, 'q');
  v_tasks int[];
begin
  execute format(
    $query$
    select coalesce(array_agg(distinct (m.message ->> 'task_index')::int), '{}')
      from (
        (select q.message from pgmq.%1$I q order by q.vt limit 500)
        union all
        (select q.message from pgmq.%1$I q order by q.vt desc limit 500)
      ) m
     where m.message ->> 'run_id' = $1 and m.message ->> 'step_slug' = $2
    $query$, v_queue)
    into v_tasks using _tasks_in_queue.run_id::text, _tasks_in_queue.step_slug;
  return v_tasks;
exception when undefined_table then
  -- The flow is being deleted.
  return '{}';
end;
$$;
