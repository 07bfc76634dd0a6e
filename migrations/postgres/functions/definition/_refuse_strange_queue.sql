-- Refuses to make a queue that is there into a flow's, if it is spelled differently (its tables would be the
-- same), or if a role owns it that has not the rights of the core's owner: it may put triggers on the
-- tables, and those would run with these rights.
create or replace function pgflow._refuse_strange_queue(flow_slug text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_twin text;
  v_strange record;
begin
  select q.queue_name into v_twin from pgmq.list_queues() q
   where lower(q.queue_name) = lower(_refuse_strange_queue.flow_slug) and q.queue_name <> _refuse_strange_queue.flow_slug;
  if found then
    raise exception 'Flow slug "%" differs from the existing queue "%" in case only, and would share its tables',
      _refuse_strange_queue.flow_slug, v_twin
      using errcode = 'unique_violation';
  end if;
  select c.relname, c.relowner::regrole as owner, n.nspowner::regrole as core into v_strange
    from pg_class c
    cross join pg_namespace n
   where n.nspname = 'pgflow' and c.relnamespace = 'pgmq'::regnamespace
     and c.relname in (pgmq.format_table_name(_refuse_strange_queue.flow_slug, 'q'),
                       pgmq.format_table_name(_refuse_strange_queue.flow_slug, 'a'))
     and not pg_has_role(c.relowner, n.nspowner, 'usage');
  if found then
    raise exception 'The queue "%" belongs to %, who does not have the rights of %',
      v_strange.relname, v_strange.owner, v_strange.core
      using errcode = 'insufficient_privilege',
            hint = format('Choose another name for the flow, or "alter table pgmq.%I owner to %s".', v_strange.relname, v_strange.core);
  end if;
end;
$$;
