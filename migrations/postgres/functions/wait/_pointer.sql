-- A JSON pointer as the path that operators take.
create or replace function pgflow._pointer(pointer text) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when pointer = '' then '{}' else array(
    select replace(replace(p.name, '~1', '/'), '~0', '~')
      from string_to_table(substr(pointer, 2), '/') with ordinality p(name, n) order by p.n) end;
end;
$$;
