-- Every version of every flow, by name and number.
create or replace function pgflow.get_flows()
returns table (
  flow_name text, version int, flow_slug text, is_current boolean, steps bigint, created_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select n.name, coalesce(v.version, 1), f.flow_slug, f.flow_slug = pgflow.current_flow(n.name),
           (select count(*) from pgflow.steps s where s.flow_slug = f.flow_slug), f.created_at
      from pgflow.flows f
      -- A flow that never got a second version is not in the table.
      left join pgflow.flow_versions v on v.flow_slug = f.flow_slug
      cross join lateral (select coalesce(v.flow_name, f.flow_slug) as name) n
     order by 1, 2;
end;
$$;
