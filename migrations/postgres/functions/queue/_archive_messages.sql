-- Archives messages, flow by flow and by ascending id: everybody who needs several message locks
-- takes them in this order. The index scan that is forced here is what gives the order.
create or replace function pgflow._archive_messages(flow_slugs text[], message_ids bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_queue record;
begin
  for v_queue in
    select m.flow_slug, array_agg(m.message_id order by m.message_id) as ids
      from unnest(flow_slugs, message_ids) m(flow_slug, message_id)
     where m.message_id is not null
     group by m.flow_slug order by m.flow_slug
  loop
    perform pgmq.archive(v_queue.flow_slug, v_queue.ids);
  end loop;
end;
$$;
