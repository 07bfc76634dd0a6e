-- Flows whose queue is there. One that somebody dropped must not stop work on the others.
create or replace function pgflow._flows_with_queues() returns setof text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select f.flow_slug from pgflow.flows f
   where to_regclass(format('pgmq.%I', pgmq.format_table_name(f.flow_slug, 'q'))) is not null
   order by f.flow_slug
$$;
