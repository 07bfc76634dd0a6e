-- The first place where a value does not fit a JSON Schema, as far as those describe types of Rust; nothing if it fits. What is not known
-- of a schema accepts everything. The same as pgflow_machine::wait::mismatch.
create or replace function pgflow._mismatch(
  schema jsonb, value jsonb, place text default '', root jsonb default null, refs int default 0,
  out path text, out expected text, out got text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_root jsonb := coalesce(root, schema);
  v_target jsonb;
begin
  if schema = 'false' then
    path := place; expected := 'nothing'; got := jsonb_typeof(value);
  end if;
  if jsonb_typeof(schema) <> 'object' then
    return;
  end if;
  if schema ->> '$ref' like '#%' and refs < 64 then
    v_target := v_root #> pgflow._pointer(substr(schema ->> '$ref', 2));
    select m.* into path, expected, got from pgflow._mismatch(v_target, value, place, v_root, refs + 1) m where v_target is not null;
  end if;
  if path is null then
    select m.* into path, expected, got from pgflow._mismatch_of_value(schema, value, place) m;
  end if;
  if path is null and jsonb_typeof(value) = 'object' then
    select m.* into path, expected, got from pgflow._mismatch_in_object(schema, value, place, v_root, refs) m;
  elsif path is null and jsonb_typeof(value) = 'array' then
    select m.* into path, expected, got from pgflow._mismatch_in_array(schema, value, place, v_root, refs) m;
  end if;
  if path is null then
    select m.* into path, expected, got from pgflow._mismatch_of_all(schema, value, place, v_root, refs) m;
  end if;
end;
$$;
