-- Reads messages of one queue and starts their tasks. Messages are hidden for the flow's timeout as
-- they are read, so that most are written once; only those of steps with a timeout of their own, or
-- that started nothing (hidden for `reservation` seconds), are written again. For the rest see _claim_queue.
create or replace function pgflow._read_and_start(
  queue_name text,
  reservation int,
  qty int,
  worker_id uuid,
  limited_steps text[],
  limited_quotas int[],
  taken bigint,
  out has_read boolean,
  out tasks pgflow.step_task_record[],
  out bytes bigint,
  out is_full boolean
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_timeout int;
  -- Steps with a timeout of their own.
  v_has_others boolean;
  v_has_map boolean;
  v_queue text := pgmq.format_table_name(_read_and_start.queue_name, 'q');
  v_picked bigint[];
  v_ids bigint[];
  v_bodies jsonb[];
  v_is_turn boolean;
  v_started record;
begin
  select f.opt_timeout, bool_or(d.opt_timeout <> f.opt_timeout), bool_or(d.step_type = 'map')
    into v_timeout, v_has_others, v_has_map
    from pgflow.flows f left join pgflow.steps d on d.flow_slug = f.flow_slug
   where f.flow_slug = _read_and_start.queue_name group by f.flow_slug;
  if _read_and_start.limited_steps is not null then
    v_picked := pgflow._pick_messages(
      _read_and_start.queue_name, _read_and_start.qty, _read_and_start.limited_steps, _read_and_start.limited_quotas);
  end if;
  -- As pgmq.read does, but by the index on vt: messages in flight or delayed are not looked at. By place: a row that is locked stays
  -- where it is.
  execute format(case
    when _read_and_start.limited_steps is not null then
      'with read as (
         update pgmq.%1$I q set vt = $1 + $2, read_ct = q.read_ct + 1 where q.msg_id = any ($4) returning q.msg_id, q.message)
       select array_agg(r.msg_id), array_agg(r.message), true from read r'
    when not v_has_map then
      'with read as (
         update pgmq.%1$I q set vt = $1 + $2, read_ct = q.read_ct + 1
          where q.ctid = any (array(
            select m.ctid from pgmq.%1$I m where m.vt <= $1 order by m.vt limit $3 for update skip locked))
         returning q.msg_id, q.message)
       select array_agg(r.msg_id), array_agg(r.message), false from read r'
    else
      -- Tasks of wide maps stand far back in time (see _spawn_map_tasks): they get what others leave,
      -- and a quarter in any case.
      'with turn as materialized (
         select m.ctid from pgmq.%1$I m where m.vt > $5 and m.vt <= $1 order by m.vt limit $3 for update skip locked
       ), bulk as materialized (
         select m.ctid from pgmq.%1$I m where m.vt <= $5 order by m.vt
          limit greatest($3 - (select count(*) from turn), $6) for update skip locked
       ), read as (
         update pgmq.%1$I q set vt = $1 + $2, read_ct = q.read_ct + 1
          where q.ctid = any (array(select ctid from bulk union all select ctid from turn limit $3))
         returning q.msg_id, q.message)
       select array_agg(r.msg_id), array_agg(r.message), exists (select from turn) from read r' end,
    v_queue
  ) into v_ids, v_bodies, v_is_turn
    using clock_timestamp(), make_interval(secs => coalesce(v_timeout::float8 + pgflow._lease_grace(), _read_and_start.reservation)),
          greatest(_read_and_start.qty, 0), v_picked, clock_timestamp() - pgflow._bulk_edge(),
          floor(greatest(_read_and_start.qty, 0) / 4.0 + random());
  has_read := v_ids is not null;
  if not has_read then
    return;
  end if;
  -- The more of what was read is of wide maps, the likelier: now and then for claims of single tasks. Bulk alone is in nobody's way.
  if v_is_turn and random() * 16 < (
    select count(*) from unnest(v_bodies) b where b -> 'task_index' between to_jsonb(pgflow._bulk_from()) and pgflow._last_index()
  ) then
    perform pgflow._make_way(_read_and_start.queue_name);
  end if;
  select * into v_started
    from pgflow._start_messages(_read_and_start.queue_name, v_ids, v_bodies, _read_and_start.worker_id, _read_and_start.taken);
  if v_has_others then
    perform pgflow.set_vt_batch(_read_and_start.queue_name, array_agg(t.msg_id),
                                array_agg(least(t.timeout, 2147483647 - pgflow._lease_grace()) + pgflow._lease_grace()))
       from unnest(v_started.tasks) t where t.timeout <> v_timeout;
  end if;
  if coalesce(cardinality(v_started.tasks), 0) < cardinality(v_ids) then
    perform pgflow._show_again(_read_and_start.queue_name, v_started.over);
    perform pgflow.set_vt_batch(_read_and_start.queue_name, array_agg(m.id), array_agg(_read_and_start.reservation))
       from (select unnest(v_ids) as id
             except select t.msg_id from unnest(v_started.tasks) t
             except select unnest(v_started.over)) m;
  end if;
  tasks := v_started.tasks;
  bytes := v_started.bytes;
  is_full := v_started.over is not null;
end;
$$;
