-- A JSON pointer to a field or element.
create or replace function pgflow._below(name text) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return '/' || replace(replace(name, '~', '~0'), '/', '~1');
end;
$$;
