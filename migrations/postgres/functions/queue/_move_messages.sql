-- Makes some messages visible after a delay each and archives others. Both passes need locks on
-- several messages, so all are taken first, in the order that everybody keeps.
create or replace function pgflow._move_messages(
  delayed_flows text[],
  delayed_ids bigint[],
  delays int[],
  over_flows text[],
  over_ids bigint[]
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue record;
begin
  perform pgflow._lock_messages(delayed_flows || over_flows, delayed_ids || over_ids);
  for v_queue in
    select d.flow_slug, array_agg(d.message_id) as ids, array_agg(d.delay) as delays
      from unnest(delayed_flows, delayed_ids, delays) d(flow_slug, message_id, delay)
     group by 1 order by 1
  loop
    perform pgflow.set_vt_batch(v_queue.flow_slug, v_queue.ids, v_queue.delays);
  end loop;
  perform pgflow._archive_messages(over_flows, over_ids);
end;
$$;
