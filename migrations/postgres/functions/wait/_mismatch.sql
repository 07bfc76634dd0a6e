-- The first place where a value does not fit a JSON Schema, as far as those describe types of Rust; nothing if it fits. What is not known
-- of a schema accepts everything. The same as pgflow_machine::wait::mismatch. Payloads come from outside: so that none takes for ever,
-- comparisons are counted (`used` so far), nothing is looked at that the schema says nothing about, and paths are put together only where
-- something does not fit.
create or replace function pgflow._mismatch(
  schema jsonb, value jsonb, root jsonb default null, refs int default 0, inout used int default 0,
  out path text, out expected text, out got text, out of_constant boolean
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_root jsonb := coalesce(root, schema);
  v_target jsonb;
begin
  used := used + 1;
  if used >= pgflow._max_comparisons() then
    raise exception 'This takes too many comparisons' using errcode = 'statement_too_complex';
  end if;
  if schema = 'false' then
    path := ''; expected := 'nothing'; got := jsonb_typeof(value);
  end if;
  if jsonb_typeof(schema) <> 'object' then
    return;
  end if;
  if schema ->> '$ref' like '#%' and refs < 64 then
    v_target := v_root #> pgflow._pointer(substr(schema ->> '$ref', 2));
    if v_target is not null then
      select m.* into used, path, expected, got, of_constant from pgflow._mismatch(v_target, value, v_root, refs + 1, used) m;
    end if;
  end if;
  if path is null then
    select m.* into path, expected, got, of_constant from pgflow._mismatch_of_value(schema, value) m;
  end if;
  if path is null and jsonb_typeof(value) = 'object' then
    select m.* into used, path, expected, got, of_constant from pgflow._mismatch_in_object(schema, value, v_root, used) m;
  elsif path is null and jsonb_typeof(value) = 'array' then
    select m.* into used, path, expected, got, of_constant from pgflow._mismatch_in_array(schema, value, v_root, used) m;
  end if;
  if path is null and schema ?| array['allOf', 'anyOf', 'oneOf', 'not'] then
    select m.* into used, path, expected, got, of_constant from pgflow._mismatch_of_all(schema, value, v_root, refs, used) m;
  end if;
end;
$$;
