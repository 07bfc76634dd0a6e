-- Deletes what every flow's archive holds from before a point in time, except where somebody else is
-- just doing that, or is deleting the flow; of many flows, those of some.
create or replace function pgflow._delete_archived_messages(cutoff timestamptz) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1ms'
as $$
declare
  v_flow text;
  v_deleted bigint;
  v_total bigint := 0;
  v_left int := pgflow._queues_at_once();
begin
  for v_flow in select f.flow_slug from pgflow.flows f order by random() loop
    exit when v_left = 0;
    begin
      continue when not pgflow._use_queue(v_flow);
      execute format('delete from pgmq.%I where archived_at < $1', pgmq.format_table_name(v_flow, 'a'))
        using _delete_archived_messages.cutoff;
      get diagnostics v_deleted = row_count;
      if v_deleted = 0 then
        -- What fails gives its locks back: see _peek_queue.
        raise exception using errcode = 'no_data_found';
      end if;
      v_left := v_left - 1;
      v_total := v_total + v_deleted;
    exception when lock_not_available or no_data_found then
      null;
    end;
  end loop;
  return v_total;
end;
$$;
