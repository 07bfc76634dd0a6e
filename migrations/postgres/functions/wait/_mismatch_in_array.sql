-- What a schema says of an array and its elements; see _mismatch.
create or replace function pgflow._mismatch_in_array(
  schema jsonb, value jsonb, place text, root jsonb, refs int, out path text, out expected text, out got text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_length int := jsonb_array_length(value);
  v_element record;
begin
  expected := case
    when v_length < pgflow._count_in(schema -> 'minItems') then format('at least %s elements', schema -> 'minItems')
    when v_length > pgflow._count_in(schema -> 'maxItems') then format('at most %s elements', schema -> 'maxItems') end;
  if expected is not null then
    path := place; got := v_length;
    return;
  end if;
  for v_element in
    select e.value, e.n - 1 as at, coalesce(
        case when jsonb_typeof(schema -> 'prefixItems') = 'array' then schema -> 'prefixItems' -> (e.n - 1)::int end,
        schema -> 'items') as schema
      from jsonb_array_elements(value) with ordinality e(value, n) order by e.n
  loop
    select m.* into path, expected, got
      from pgflow._mismatch(v_element.schema, v_element.value, pgflow._below(place, v_element.at::text), root, refs) m
     where v_element.schema is not null;
    exit when path is not null;
  end loop;
end;
$$;
