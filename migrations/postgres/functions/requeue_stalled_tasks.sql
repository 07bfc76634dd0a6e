-- Takes back tasks whose worker is gone: started longer ago than their timeout plus `grace`
-- seconds, without a heartbeat that still counts. Returns how many were put back into the queue.
-- A task that was taken back three times ends its step as if its attempts were used up.
--
-- Any process may call this at any time. It waits for nobody: what somebody else holds a lock on is
-- being worked on, and the next call sees what became of it.
create or replace function pgflow.requeue_stalled_tasks(grace int default 30) returns int
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_flow text;
  v_ended uuid[] := '{}';
  v_flows text[] := '{}';
  v_messages bigint[] := '{}';
  v_requeued bigint[];
begin
  for v_flow in select f.flow_slug from pgflow.flows f order by f.flow_slug loop
    v_ended := v_ended || pgflow._end_stalled(v_flow, requeue_stalled_tasks.grace);
    v_requeued := pgflow._requeue_stalled(v_flow, requeue_stalled_tasks.grace);
    v_flows := v_flows || array_fill(v_flow, array[coalesce(cardinality(v_requeued), 0)]);
    v_messages := v_messages || v_requeued;
  end loop;
  perform pgflow._move_messages(
    v_flows, v_messages, array_fill(0, array[cardinality(v_messages)]),
    (select array_agg(d.flow_slug) from pgflow._dead_messages(v_ended) d),
    (select array_agg(d.message_id) from pgflow._dead_messages(v_ended) d)
  );
  return cardinality(v_messages);
end;
$$;
