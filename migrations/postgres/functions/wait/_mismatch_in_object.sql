-- What a schema says of the fields of an object; see _mismatch.
create or replace function pgflow._mismatch_in_object(
  schema jsonb, value jsonb, place text, root jsonb, refs int, out path text, out expected text, out got text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_field record;
begin
  for v_field in
    select r.name #>> '{}' as name
      from jsonb_array_elements(case when jsonb_typeof(schema -> 'required') = 'array' then schema -> 'required' else '[]' end)
        with ordinality r(name, n)
     where jsonb_typeof(r.name) = 'string' and not value ? (r.name #>> '{}') order by r.n limit 1
  loop
    path := pgflow._below(place, v_field.name); expected := 'a value'; got := 'nothing';
    return;
  end loop;
  for v_field in
    select f.key as name, f.value, coalesce(
        case when jsonb_typeof(schema -> 'properties') = 'object' then schema -> 'properties' -> f.key end,
        schema -> 'additionalProperties') as schema
      -- A tag first: what it rules out need not be looked at.
      from jsonb_each(value) f
     order by (schema -> 'properties' -> f.key -> 'const') is null, f.key collate "C"
  loop
    select m.* into path, expected, got
      from pgflow._mismatch(v_field.schema, v_field.value, pgflow._below(place, v_field.name), root, refs) m
     where v_field.schema is not null;
    exit when path is not null;
  end loop;
end;
$$;
