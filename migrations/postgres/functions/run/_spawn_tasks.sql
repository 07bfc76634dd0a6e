-- Sends a message for the one task of each single step and stores the tasks with their message ids. As
-- pgmq.send_batch does, but in one statement with the tasks: ids are drawn first, so that neither
-- insert has to wait for what the other returns. The sequence is looked up once the queue is locked: before
-- that, a flow that was just replaced is still known with the queue that is gone.
create or replace function pgflow._spawn_tasks(flow_slug text, run_ids uuid[], step_slugs text[], delay int)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue text := pgmq.format_table_name(_spawn_tasks.flow_slug, 'q');
begin
  execute format(
    'with task as materialized (
       select k.run_id, k.step_slug, nextval((select pg_get_serial_sequence(%2$L, ''msg_id''))::regclass) as id
         from unnest($1, $2) k(run_id, step_slug)
     ), sent as (
       insert into pgmq.%1$I (msg_id, vt, message) overriding system value
       select t.id, clock_timestamp() + make_interval(secs => $4),
              jsonb_build_object(''flow_slug'', $3, ''run_id'', t.run_id, ''step_slug'', t.step_slug, ''task_index'', 0)
         from task t
     )
     insert into pgflow.step_tasks (flow_slug, run_id, step_slug, message_id)
     select $3, t.run_id, t.step_slug, t.id from task t',
    v_queue, format('pgmq.%I', v_queue)
  ) using run_ids, step_slugs, _spawn_tasks.flow_slug, _spawn_tasks.delay;
end;
$$;
