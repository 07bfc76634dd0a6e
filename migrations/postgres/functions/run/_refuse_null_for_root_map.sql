-- Says of a missing input what a root map step needs; for other flows the table says it.
create or replace function pgflow._refuse_null_for_root_map(flow_slug text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (
    select from pgflow.steps s
     where s.flow_slug = _refuse_null_for_root_map.flow_slug and s.step_type = 'map' and s.deps_count = 0
  ) then
    raise exception 'Flow % has root map steps but input is NULL', _refuse_null_for_root_map.flow_slug
      using detail = jsonb_build_object('problem', 'not_an_array');
  end if;
end;
$$;
