-- Refuses to take an existing step for one with other dependencies.
create or replace function pgflow._assert_same_deps(flow_slug text, step_slug text, deps_slugs text[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_stored text[] := array(
    select d.dep_slug from pgflow.deps d
     where d.flow_slug = _assert_same_deps.flow_slug and d.step_slug = _assert_same_deps.step_slug
     order by d.dep_slug
  );
  v_given text[] := array(select distinct g from unnest(_assert_same_deps.deps_slugs) g order by g);
begin
  if v_stored <> v_given then
    raise exception 'Step "%" of flow "%" exists with other dependencies: [%], not [%]',
      _assert_same_deps.step_slug, _assert_same_deps.flow_slug,
      array_to_string(v_stored, ', '), array_to_string(v_given, ', ');
  end if;
end;
$$;
