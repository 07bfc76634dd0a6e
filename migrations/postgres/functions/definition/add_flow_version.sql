-- Makes an existing flow a version of `flow_name`, which new runs use if its number is the highest.
-- The flow of that very name is version 1. Called again, it returns what is there.
create or replace function pgflow.add_flow_version(flow_name text, version int, flow_slug text)
returns pgflow.flow_versions
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_version pgflow.flow_versions;
begin
  -- The flows before their versions, as when a flow is replaced: a foreign key would ask for them afterwards.
  perform pgflow._lock_flow(least(add_flow_version.flow_name, add_flow_version.flow_slug), false);
  perform pgflow._lock_flow(greatest(add_flow_version.flow_name, add_flow_version.flow_slug), false);
  insert into pgflow.flow_versions (flow_name, version, flow_slug)
  select f.flow_slug, 1, f.flow_slug from pgflow.flows f
   where f.flow_slug = add_flow_version.flow_name and add_flow_version.version > 1
  on conflict do nothing;

  insert into pgflow.flow_versions (flow_name, version, flow_slug)
  values (add_flow_version.flow_name, add_flow_version.version, add_flow_version.flow_slug)
  on conflict on constraint flow_versions_pkey do nothing;

  select * into v_version from pgflow.flow_versions v
   where v.flow_name = add_flow_version.flow_name and v.version = add_flow_version.version;
  if v_version.flow_slug <> add_flow_version.flow_slug then
    raise exception 'Version % of flow "%" is "%", not "%"', add_flow_version.version,
      add_flow_version.flow_name, v_version.flow_slug, add_flow_version.flow_slug
      using errcode = 'unique_violation';
  end if;
  return v_version;
end;
$$;
