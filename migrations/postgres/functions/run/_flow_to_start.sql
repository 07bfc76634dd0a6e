-- The version of a flow that a program starts: the newest of those that its code is for, and of newer
-- ones that take and put out the same. Without `versions` it is the newest of all. A flow that is not there is
-- left to whoever inserts the run.
create or replace function pgflow._flow_to_start(flow_name text, versions int[], interface text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_flow text := pgflow.current_flow(_flow_to_start.flow_name);
  v_newest int;
begin
  if _flow_to_start.versions is null then
    return v_flow;
  end if;
  -- A flow that never got a second version is not in the table.
  select coalesce(max(v.version), 1) into v_newest
    from pgflow.flow_versions v where v.flow_name = _flow_to_start.flow_name;
  if v_newest = any (_flow_to_start.versions) then
    return v_flow;
  end if;
  select f.flow_slug into v_flow
    from pgflow.flows f
    left join pgflow.flow_versions v on v.flow_slug = f.flow_slug
    cross join lateral (select coalesce(v.version, 1) as version) n
   where coalesce(v.flow_name, f.flow_slug) = _flow_to_start.flow_name
     and (n.version = any (_flow_to_start.versions)
          or (f.interface = _flow_to_start.interface and n.version > all (_flow_to_start.versions)))
   order by n.version desc limit 1;
  if v_flow is null and exists (
    select from pgflow.flows f where f.flow_slug = pgflow.current_flow(_flow_to_start.flow_name)
  ) then
    raise exception 'Flow "%" has no version that fits a program for version %',
      _flow_to_start.flow_name, _flow_to_start.versions[1]
      using errcode = 'no_data_found', schema = 'pgflow', table = 'flow_versions',
            constraint = 'flow_versions_pkey';
  end if;
  return coalesce(v_flow, _flow_to_start.flow_name);
end;
$$;
