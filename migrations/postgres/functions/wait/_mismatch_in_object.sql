-- What a schema says of the fields of an object; see _mismatch.
create or replace function pgflow._mismatch_in_object(
  schema jsonb, value jsonb, root jsonb, inout used int, out path text, out expected text, out got text, out of_constant boolean
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_known jsonb := case when jsonb_typeof(schema -> 'properties') = 'object' then schema -> 'properties' else '{}' end;
  v_patterns jsonb := case when jsonb_typeof(schema -> 'patternProperties') = 'object' then schema -> 'patternProperties' end;
  v_others jsonb := schema -> 'additionalProperties';
  v_required jsonb := case when jsonb_typeof(schema -> 'required') = 'array' then schema -> 'required' else '[]' end;
  v_field record;
begin
  -- A tag first: of what it rules out, nothing else is looked at or missed.
  for v_field in
    select f.name, f.is_missing, value -> f.name as value,
           coalesce(v_known -> f.name, pgflow._schema_by_name(v_patterns, v_others, f.name)) as schema
      from (
        select k as name, false as is_missing from jsonb_object_keys(v_known) k
         where v_patterns is null and v_others is null and value ? k
        union all
        select k, false from jsonb_object_keys(value) k where v_patterns is not null or v_others is not null
        union all
        (select r.name #>> '{}', true from jsonb_array_elements(v_required) with ordinality r(name, n)
          where jsonb_typeof(r.name) = 'string' and not value ? (r.name #>> '{}') order by r.n limit 1)
      ) f
     order by f.is_missing or (v_known -> f.name -> 'const') is null, not f.is_missing, f.name collate "C"
  loop
    if v_field.is_missing then
      path := pgflow._below(v_field.name); expected := 'a value'; got := 'nothing';
      return;
    end if;
    continue when v_field.schema is null;
    select m.* into used, path, expected, got, of_constant
      from pgflow._mismatch(v_field.schema, v_field.value, root, 0, used) m;
    if path is not null then
      path := pgflow._below(v_field.name) || path;
      return;
    end if;
  end loop;
end;
$$;
