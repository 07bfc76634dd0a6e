-- What requeue_stalled_tasks does. Returns how many tasks were put back into the queue, and the runs of steps that ended.
create or replace function pgflow._sweep(grace int, out requeued int, out ended uuid[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_grace int := coalesce(_sweep.grace, 30);
  v_flow text;
  v_ended uuid[] := '{}';
  v_flows text[] := '{}';
  v_messages bigint[] := '{}';
  v_requeued bigint[];
begin
  if v_grace < 0 then
    -- It would take tasks from workers that are well within their time.
    raise exception 'The grace must not be negative: %', v_grace using errcode = 'invalid_parameter_value';
  end if;
  for v_flow in select q from pgflow._stalled_flows(v_grace) q loop
    v_ended := v_ended || pgflow._end_stalled(v_flow, v_grace);
    v_requeued := pgflow._requeue_stalled(v_flow, v_grace);
    v_flows := v_flows || array_fill(v_flow, array[coalesce(cardinality(v_requeued), 0)]);
    v_messages := v_messages || v_requeued;
  end loop;
  perform pgflow._move_messages(
    v_flows, v_messages, array_fill(0, array[cardinality(v_messages)]),
    (select array_agg(d.flow_slug) from pgflow._dead_messages(v_ended) d),
    (select array_agg(d.message_id) from pgflow._dead_messages(v_ended) d)
  );
  requeued := cardinality(v_messages);
  ended := v_ended;
end;
$$;
