-- Locks messages by (flow, id), the order that everybody keeps.
create or replace function pgflow._lock_messages(flow_slugs text[], message_ids bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue record;
begin
  for v_queue in
    select m.flow_slug, array_agg(m.message_id) as ids
      from unnest(flow_slugs, message_ids) m(flow_slug, message_id)
     where m.message_id is not null
     group by 1 order by 1
  loop
    execute format('select from pgmq.%I where msg_id = any ($1) order by msg_id for update',
                   pgmq.format_table_name(v_queue.flow_slug, 'q')) using v_queue.ids;
  end loop;
end;
$$;
