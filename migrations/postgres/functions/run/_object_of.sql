-- An object of these values, without writing them as text on the way, which aggregates of large ones would; null if there are none.
create or replace function pgflow._object_of(names text[], vals jsonb[]) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_object jsonb;
begin
  -- A function takes a hundred parameters.
  for v_first in 1 .. coalesce(cardinality(names), 0) by 50 loop
    execute (
      select case when v_first = 1 then 'select ' else 'select $1 || ' end
             || format('jsonb_build_object(%s)', string_agg(format('$2[%1$s], $3[%1$s]', n), ', '))
        from generate_series(v_first, least(v_first + 49, cardinality(names))) n
    ) into v_object using v_object, names, vals;
  end loop;
  return v_object;
end;
$$;
