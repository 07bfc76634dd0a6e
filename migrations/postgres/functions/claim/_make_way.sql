-- Moves tasks of wide maps that stand in turn back to the lane of their own: see _spawn_map_tasks. A task that
-- was delayed, or tried before, waits for its moment like any other; when a whole map does so, what comes after it
-- would wait for all of it. What is no number in that range is no task of ours. Looks at the first thousand messages, and waits for nobody.
create or replace function pgflow._make_way(queue_name text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  execute format(
    'with seen as materialized (
       select m.msg_id, m.message -> ''task_index'' as index
         from pgmq.%1$I m where m.vt > $1 and m.vt <= $2 order by m.vt limit 1000
     ), wide as materialized (
       select m.ctid, s.index::float8 as index
         from seen s join pgmq.%1$I m on m.msg_id = s.msg_id
        where s.index between $3 and $5 and m.vt > $1 and m.vt <= $2
          for update of m skip locked
     )
     update pgmq.%1$I q set vt = q.vt - $4 + w.index * interval ''1 second''
       from wide w where q.ctid = w.ctid',
    pgmq.format_table_name(_make_way.queue_name, 'q')
  ) using clock_timestamp() - pgflow._bulk_edge(), clock_timestamp(), to_jsonb(pgflow._bulk_from()), pgflow._bulk_lane(), pgflow._last_index();
end;
$$;
