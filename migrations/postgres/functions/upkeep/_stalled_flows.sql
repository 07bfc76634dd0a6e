-- Flows that have stalled tasks, and whose queues can be used now: no more than a transaction may keep locks of, chosen at random.
create or replace function pgflow._stalled_flows(grace int) returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_flow text;
  v_left int := pgflow._queues_at_once();
begin
  for v_flow in select f.flow_slug from pgflow.flows f order by random() loop
    exit when v_left = 0;
    if pgflow._peek_queue(v_flow, 'stalled', _stalled_flows.grace) then
      v_left := v_left - 1;
      return next v_flow;
    end if;
  end loop;
end;
$$;
