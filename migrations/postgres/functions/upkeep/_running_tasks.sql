-- How many tasks of a flow each worker has, and how many of those are past their time. They are found from the
-- messages that somebody has taken, as _stalled_tasks does.
create or replace function pgflow._running_tasks(flow_slug text)
returns table (worker_id uuid, tasks bigint, late bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids bigint[];
  v_bodies jsonb[];
  v_late bigint[];
begin
  -- One that somebody dropped or is deleting must not hide the others.
  if not pgflow._use_queue(_running_tasks.flow_slug) then
    return;
  end if;
  execute format(
    'select array_agg(msg_id), array_agg(message), array_agg(msg_id) filter (where vt <= clock_timestamp())
       from pgmq.%I where read_ct > 0',
    pgmq.format_table_name(_running_tasks.flow_slug, 'q')) into v_ids, v_bodies, v_late;
  return query
    select t.last_worker_id, count(*), count(*) filter (where m.msg_id = any (v_late))
      from pgflow._tasks_of_messages(v_ids, v_bodies) m
      join pgflow.step_tasks t
        on t.run_id = m.run_id and t.step_slug = m.step_slug and t.task_index = m.task_index
       and t.message_id = m.msg_id
     where t.status = 'started'
     group by 1;
  -- What fails gives its locks back, and what it returned stays: see _peek_queue.
  raise exception using errcode = 'no_data_found';
exception when no_data_found then
  null;
end;
$$;
