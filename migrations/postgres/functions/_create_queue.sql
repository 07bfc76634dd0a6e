-- Creates a flow's pgmq queue if there is none of that name.
create or replace function pgflow._create_queue(flow_slug text) returns void
language plpgsql
set search_path = ''
as $$
declare
  v_table text := pgmq.format_table_name(_create_queue.flow_slug, 'q');
begin
  if not exists (select from pgmq.list_queues() q where q.queue_name = _create_queue.flow_slug) then
    perform pgmq.create(_create_queue.flow_slug);
  end if;
  -- Finds the messages that somebody has taken, however many wait: see requeue_stalled_tasks.
  execute format('create index if not exists %I on pgmq.%I (msg_id) where read_ct > 0',
                 left(v_table, 50) || '_taken_idx', v_table);
  -- A queue's rows live for seconds: vacuum by their number, not by a share of the table.
  execute format('alter table pgmq.%I set (autovacuum_vacuum_scale_factor = 0.01, '
                 'autovacuum_vacuum_threshold = 1000, fillfactor = 50)', v_table);
end;
$$;
