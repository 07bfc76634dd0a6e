-- Creates a flow's pgmq queue if there is none of that name.
create or replace function pgflow._create_queue(flow_slug text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table text := pgmq.format_table_name(_create_queue.flow_slug, 'q');
  v_index text := left(v_table, 50) || '_taken_idx';
begin
  perform pgflow._refuse_strange_queue(_create_queue.flow_slug);
  if not exists (select from pgmq.list_queues() q where q.queue_name = _create_queue.flow_slug) then
    perform pgmq.create(_create_queue.flow_slug);
  end if;
  -- A queue that is set up is not touched again: that would wait for everybody who uses it.
  if to_regclass(format('pgmq.%I', v_index)) is not null then
    return;
  end if;
  -- Finds the messages that somebody has taken, however many wait: see requeue_stalled_tasks.
  execute format('create index %I on pgmq.%I (msg_id) where read_ct > 0', v_index, v_table);
  -- A queue's rows live for seconds: vacuum by their number, not by a share of the table.
  execute format('alter table pgmq.%I set (autovacuum_vacuum_scale_factor = 0.01, '
                 'autovacuum_vacuum_threshold = 1000, fillfactor = 50)', v_table);
end;
$$;
