-- Locks the row of a flow, if there is such a flow: to change its definition, or to keep it from being
-- deleted. Whoever waits while the flow is replaced finds its row gone and nothing locked, so it looks
-- again: there may be a new one.
create or replace function pgflow._lock_flow(flow_slug text, to_change boolean) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  loop
    if _lock_flow.to_change then
      perform from pgflow.flows f where f.flow_slug = _lock_flow.flow_slug for no key update;
    else
      perform from pgflow.flows f where f.flow_slug = _lock_flow.flow_slug for key share;
    end if;
    exit when found or not exists (select from pgflow.flows f where f.flow_slug = _lock_flow.flow_slug);
  end loop;
end;
$$;
