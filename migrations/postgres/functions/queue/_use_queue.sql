-- Whether the queue of that name may be used now: it belongs to a flow, is there, and is not just being
-- deleted. It then stays until the transaction ends. Other people's queues are not ours to touch.
--
-- The lock is one that _seize_flow's excludes: without it, a claim or a sweep of many flows would wait for the end
-- of one, and then fail because its queue is gone. It is of the table, not an advisory one, which any
-- session could take to stop a flow.
create or replace function pgflow._use_queue(flow_slug text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from pgflow.flows f where f.flow_slug = _use_queue.flow_slug) then
    return false;
  end if;
  begin
    execute format('lock table pgmq.%I in access share mode nowait',
                   pgmq.format_table_name(_use_queue.flow_slug, 'q'));
  exception when lock_not_available or undefined_table then
    return false;
  end;
  return true;
end;
$$;
