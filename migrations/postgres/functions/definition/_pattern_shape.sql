-- A pattern as a shape spells it: absent and present are told apart, whatever its value.
create or replace function pgflow._pattern_shape(pattern jsonb) returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case
    when _pattern_shape.pattern is null then jsonb_build_object('defined', false)
    else jsonb_build_object('defined', true, 'value', _pattern_shape.pattern)
  end
$$;
