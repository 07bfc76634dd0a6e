-- Reads messages of one queue and starts their tasks. Messages are hidden for the flow's timeout as
-- they are read, so that most are written once. Those that started nothing are hidden for
-- `reservation` seconds (by default as long as the rest).
create or replace function pgflow._claim_queue(queue_name text, reservation int, qty int, worker_id uuid)
returns setof pgflow.step_task_record
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_timeout int;
  v_varies boolean;
  v_ids bigint[];
  v_bodies jsonb[];
  v_started int;
begin
  select f.opt_timeout, exists (
      select from pgflow.steps s
       where s.flow_slug = f.flow_slug and s.opt_timeout is distinct from null and s.opt_timeout <> f.opt_timeout)
    into v_timeout, v_varies
    from pgflow.flows f where f.flow_slug = _claim_queue.queue_name;

  select array_agg(m.msg_id), array_agg(m.message) into v_ids, v_bodies
    from pgmq.read(_claim_queue.queue_name, coalesce(v_timeout + 2, _claim_queue.reservation, 30), _claim_queue.qty) m;
  if v_ids is null then
    return;
  end if;
  return query select * from pgflow._start_messages(_claim_queue.queue_name, v_ids, v_bodies, _claim_queue.worker_id);
  get diagnostics v_started = row_count;
  if v_varies then
    perform pgflow._set_task_visibility(_claim_queue.queue_name, v_ids, v_bodies, v_timeout);
  end if;
  if v_started < cardinality(v_ids) and _claim_queue.reservation is not null then
    perform pgflow._hide_unstarted(_claim_queue.queue_name, v_ids, v_bodies, _claim_queue.reservation);
  end if;
end;
$$;
