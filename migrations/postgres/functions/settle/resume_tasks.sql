-- Makes tasks of some queues visible at once that yield_tasks holds back for a reason: for a program
-- that has just started, and may be able to do what others could not. Returns how many.
--
-- Tasks are found from the messages that wait for a later moment. Those are locked before it is looked
-- again, so that a task which a worker has claimed meanwhile keeps its lease.
create or replace function pgflow.resume_tasks(queue_names text[]) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue text;
  v_ids bigint[];
  v_resumed bigint := 0;
  v_left int := pgflow._queues_at_once();
begin
  for v_queue in select distinct f.flow_slug from pgflow.flows f where f.flow_slug = any (queue_names) order by 1 loop
    exit when v_left = 0;
    continue when not pgflow._peek_queue(v_queue, 'any');
    v_left := v_left - 1;
    v_ids := pgflow._held_back(v_queue);
    continue when v_ids is null;
    perform pgflow._lock_messages(array_fill(v_queue, array[cardinality(v_ids)]), v_ids);
    v_ids := pgflow._held_back(v_queue);
    perform pgflow.set_vt_batch(v_queue, v_ids, array_fill(0, array[coalesce(cardinality(v_ids), 0)]));
    v_resumed := v_resumed + coalesce(cardinality(v_ids), 0);
  end loop;
  return v_resumed;
end;
$$;
