-- Reads messages of one queue and starts their tasks. Messages are hidden for the flow's timeout as
-- they are read, so that most are written once; only those of steps with a timeout of their own,
-- or that started nothing (hidden for `reservation` seconds), are written again.
create or replace function pgflow._claim_queue(
  queue_name text,
  reservation int,
  qty int,
  worker_id uuid,
  limited_steps text[],
  limited_quotas int[]
) returns setof pgflow.step_task_record
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_timeout int;
  v_picked bigint[];
  v_ids bigint[];
  v_bodies jsonb[];
  v_tasks pgflow.step_task_record[];
begin
  select f.opt_timeout into v_timeout from pgflow.flows f where f.flow_slug = _claim_queue.queue_name;
  if _claim_queue.limited_steps is not null then
    v_picked := pgflow._pick_messages(
      _claim_queue.queue_name, _claim_queue.qty, _claim_queue.limited_steps, _claim_queue.limited_quotas);
  end if;
  -- As pgmq.read does, but by the index on vt: messages in flight or delayed are not looked at.
  execute format(
    'with read as (
       update pgmq.%1$I q set vt = $1 + $2, read_ct = q.read_ct + 1
        where %2$s
       returning q.msg_id, q.message)
     select array_agg(r.msg_id), array_agg(r.message) from read r',
    pgmq.format_table_name(_claim_queue.queue_name, 'q'),
    case when _claim_queue.limited_steps is not null then 'q.msg_id = any ($4)' else format(
      -- By place: a row that is locked stays where it is.
      'q.ctid = any (array(select m.ctid from pgmq.%I m where m.vt <= $1 order by m.vt limit $3 for update skip locked))',
      pgmq.format_table_name(_claim_queue.queue_name, 'q')) end
  ) into v_ids, v_bodies
    using clock_timestamp(), make_interval(secs => coalesce(v_timeout::float8 + 2, _claim_queue.reservation)),
          greatest(_claim_queue.qty, 0), v_picked;
  if v_ids is null then
    return;
  end if;
  v_tasks := array(
    select t from pgflow._start_messages(_claim_queue.queue_name, v_ids, v_bodies, _claim_queue.worker_id) t);
  perform pgflow.set_vt_batch(_claim_queue.queue_name, array_agg(t.msg_id), array_agg(least(t.timeout, 2147483645) + 2))
     from unnest(v_tasks) t where t.timeout <> v_timeout;
  if cardinality(v_tasks) < cardinality(v_ids) then
    perform pgflow.set_vt_batch(_claim_queue.queue_name, array_agg(m.id), array_agg(_claim_queue.reservation))
       from (select unnest(v_ids) as id except select t.msg_id from unnest(v_tasks) t) m;
  end if;
  return query select t.* from unnest(v_tasks) t;
end;
$$;
