-- The pattern that a shape spells: the reverse of _pattern_shape.
create or replace function pgflow._shape_pattern(spelled jsonb) returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case when (_shape_pattern.spelled ->> 'defined')::boolean then _shape_pattern.spelled -> 'value' end
$$;
