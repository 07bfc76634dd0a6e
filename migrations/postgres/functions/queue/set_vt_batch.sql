-- Sets when messages become visible, each by its own offset in seconds from now.
create or replace function pgflow.set_vt_batch(queue_name text, msg_ids bigint[], vt_offsets int[])
returns table (
  msg_id bigint, read_ct int, enqueued_at timestamptz, vt timestamptz, message jsonb, headers jsonb
)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  if set_vt_batch.msg_ids is null or set_vt_batch.vt_offsets is null then
    return;
  elsif cardinality(set_vt_batch.msg_ids) <> cardinality(set_vt_batch.vt_offsets) then
    raise exception 'msg_ids length (%) must equal vt_offsets length (%)',
      cardinality(set_vt_batch.msg_ids), cardinality(set_vt_batch.vt_offsets);
  end if;
  -- In the order of ids, as everybody locks messages.
  return query execute format(
    'update pgmq.%I q set vt = clock_timestamp() + make_interval(secs => n.seconds)
       from (select * from unnest($1, $2) n(msg_id, seconds) order by 1) n
      where q.msg_id = n.msg_id
     returning q.msg_id, q.read_ct, q.enqueued_at, q.vt, q.message, q.headers',
    pgmq.format_table_name(set_vt_batch.queue_name, 'q')
  ) using set_vt_batch.msg_ids, set_vt_batch.vt_offsets;
end;
$$;
