-- How many elements an array of a batch has; null for none. Refuses one that has rows, or that does not count from one: what is said at a
-- position would be meant for another, or for nobody.
create or replace function pgflow._length(p_array anyarray) returns int
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if array_dims(p_array) !~ '^\[1:\d+\]$' then
    raise exception 'Arrays of a batch have one dimension and count from 1, not %', array_dims(p_array) using errcode = 'array_subscript_error';
  end if;
  return cardinality(p_array);
end;
$$;
