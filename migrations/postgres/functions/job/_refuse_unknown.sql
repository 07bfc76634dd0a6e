-- Refuses dependencies that are neither live nor archived.
create or replace function pgflow._refuse_unknown(p_dependencies text[], p_ends text[]) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unknown text[] := array(
    select d.id from unnest(p_dependencies, p_ends) with ordinality d(id, ends, n) where d.ends = 'unknown' order by d.n);
begin
  if v_unknown <> '{}' then
    raise exception 'There is nothing to wait for: %', v_unknown
      using errcode = 'foreign_key_violation',
            detail = jsonb_build_object('problem', 'unknown_dependency', 'dependencies', v_unknown);
  end if;
end;
$$;
