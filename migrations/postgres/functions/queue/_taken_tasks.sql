-- The tasks that the messages of a flow name which were taken, a small index, so that neither waiting
-- messages nor past runs cost anything. In the order in which tasks are locked.
create or replace function pgflow._taken_tasks(flow_slug text)
returns table (run_id uuid, step_slug text, task_index int, msg_id bigint)
language plpgsql rows 10
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids bigint[];
  v_bodies jsonb[];
begin
  execute format('select array_agg(msg_id), array_agg(message) from pgmq.%I where read_ct > 0',
                 pgmq.format_table_name(_taken_tasks.flow_slug, 'q'))
    into v_ids, v_bodies;
  return query select * from pgflow._tasks_of_messages(v_ids, v_bodies);
end;
$$;
