-- Notes what a version of a flow takes and puts out. Workers say so when they start; the last one counts.
create or replace function pgflow.set_flow_interface(flow_slug text, interface text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update pgflow.flows f set interface = set_flow_interface.interface
   where f.flow_slug = set_flow_interface.flow_slug
     and f.interface is distinct from set_flow_interface.interface;
end;
$$;
