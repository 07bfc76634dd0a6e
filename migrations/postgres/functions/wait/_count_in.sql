-- A JSON value as a number of things; null if it is none.
create or replace function pgflow._count_in(value jsonb) returns numeric
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when jsonb_typeof(value) = 'number' and value::text ~ '^\d+$' then value::numeric end;
end;
$$;
