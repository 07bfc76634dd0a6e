-- What a schema says of an array and its elements; see _mismatch.
create or replace function pgflow._mismatch_in_array(
  schema jsonb, value jsonb, root jsonb, inout used int, out path text, out expected text, out got text, out of_constant boolean
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_length int := jsonb_array_length(value);
  v_first jsonb := case when jsonb_typeof(schema -> 'prefixItems') = 'array' then schema -> 'prefixItems' else '[]' end;
  v_rest jsonb := schema -> 'items';
  v_element record;
begin
  expected := case
    when v_length < pgflow._count_in(schema -> 'minItems') then format('at least %s elements', schema -> 'minItems')
    when v_length > pgflow._count_in(schema -> 'maxItems') then format('at most %s elements', schema -> 'maxItems') end;
  if expected is not null then
    path := ''; got := v_length;
    return;
  end if;
  if v_rest is null and v_first = '[]' then
    return;
  end if;
  for v_element in
    select e.value, e.n - 1 as at, coalesce(v_first -> (e.n - 1)::int, v_rest) as schema
      from jsonb_array_elements(value) with ordinality e(value, n)
  loop
    exit when v_element.schema is null;
    select m.* into used, path, expected, got, of_constant
      from pgflow._mismatch(v_element.schema, v_element.value, root, 0, used) m;
    if path is not null then
      path := pgflow._below(v_element.at::text) || path;
      return;
    end if;
  end loop;
end;
$$;
