-- The flow that new runs of this name belong to: its newest version, or the flow of that name.
create or replace function pgflow.current_flow(flow_name text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce((
    select v.flow_slug from pgflow.flow_versions v
     where v.flow_name = current_flow.flow_name
     order by v.version desc limit 1
  ), current_flow.flow_name);
end;
$$;
