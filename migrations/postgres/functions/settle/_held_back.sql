-- Messages of a queue whose tasks yield_tasks holds back for a reason, and that are not visible yet.
create or replace function pgflow._held_back(flow_slug text) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids bigint[];
  v_bodies jsonb[];
begin
  execute format('select array_agg(msg_id), array_agg(message) from pgmq.%I where vt > clock_timestamp()',
                 pgmq.format_table_name(_held_back.flow_slug, 'q'))
    into v_ids, v_bodies;
  return (
    select array_agg(t.message_id order by t.message_id)
      from pgflow._tasks_of_messages(v_ids, v_bodies) m
      cross join lateral (
        select * from pgflow.step_tasks t
         where t.run_id = m.run_id and t.step_slug = m.step_slug and t.task_index = m.task_index and t.message_id = m.msg_id offset 0
      ) t
     where t.status = 'queued' and t.yielded_attempt = t.attempts_count);
end;
$$;
