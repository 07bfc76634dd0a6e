-- Deletes what every flow's archive holds from before a point in time, except where somebody else is
-- just doing that, or is deleting the flow.
create or replace function pgflow._delete_archived_messages(cutoff timestamptz) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1ms'
as $$
declare
  v_flow text;
  v_deleted bigint;
  v_total bigint := 0;
begin
  for v_flow in select q from pgflow._flows_with_queues() q loop
    begin
      execute format('delete from pgmq.%I where archived_at < $1', pgmq.format_table_name(v_flow, 'a'))
        using _delete_archived_messages.cutoff;
      get diagnostics v_deleted = row_count;
      v_total := v_total + v_deleted;
    exception when lock_not_available then
      null;
    end;
  end loop;
  return v_total;
end;
$$;
