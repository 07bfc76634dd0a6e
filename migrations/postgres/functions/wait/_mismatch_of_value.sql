-- What a schema says of a value itself: its type, the values it may be, how large it is, its format; see _mismatch.
create or replace function pgflow._mismatch_of_value(
  schema jsonb, value jsonb, out path text, out expected text, out got text, out of_constant boolean
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_type text := jsonb_typeof(value);
  v_text text := case when v_type = 'string' then value #>> '{}' end;
  -- Integers of Rust say how long they are by their format, and not all by their bounds.
  v_range numeric[] := (case when v_type = 'number' then case schema ->> 'format'
    when 'int8' then '{-128, 127}' when 'int16' then '{-32768, 32767}' when 'int32' then '{-2147483648, 2147483647}'
    when 'int' then '{-9223372036854775808, 9223372036854775807}' when 'int64' then '{-9223372036854775808, 9223372036854775807}'
    when 'uint8' then '{0, 255}' when 'uint16' then '{0, 65535}' when 'uint32' then '{0, 4294967295}'
    when 'uint' then '{0, 18446744073709551615}' when 'uint64' then '{0, 18446744073709551615}' end end)::numeric[];
  v_types text[] := case jsonb_typeof(schema -> 'type')
    when 'string' then array[schema ->> 'type']
    when 'array' then array(
      select t #>> '{}' from jsonb_array_elements(schema -> 'type') with ordinality t(t, n) where jsonb_typeof(t) = 'string' order by n) end;
begin
  if v_types is not null and v_type <> all (v_types)
     and not ('integer' = any (v_types) and v_type = 'number' and value #>> '{}' ~ '^-?\d+$') then
    expected := array_to_string(v_types, ' or ');
  elsif schema -> 'const' <> value then
    expected := (schema -> 'const')::text;
    of_constant := true;
  elsif jsonb_typeof(schema -> 'enum') = 'array'
     and not exists (select from jsonb_array_elements(schema -> 'enum') e where e = value) then
    expected := 'one of the values listed';
  elsif v_type = 'number' and jsonb_typeof(schema -> 'minimum') = 'number' and value < schema -> 'minimum' then
    expected := format('at least %s', schema -> 'minimum');
  elsif v_type = 'number' and jsonb_typeof(schema -> 'maximum') = 'number' and value > schema -> 'maximum' then
    expected := format('at most %s', schema -> 'maximum');
  elsif (case when v_range is not null then (value #>> '{}')::numeric < v_range[1] end) then
    expected := format('at least %s', v_range[1]);
  elsif (case when v_range is not null then (value #>> '{}')::numeric > v_range[2] end) then
    expected := format('at most %s', v_range[2]);
  -- No more of a text is read than needed.
  elsif char_length(left(v_text, least(pgflow._count_in(schema -> 'minLength'), 2147483647)::int)) < pgflow._count_in(schema -> 'minLength') then
    expected := format('at least %s characters', schema -> 'minLength');
  elsif char_length(left(v_text, (least(pgflow._count_in(schema -> 'maxLength'), 2147483646) + 1)::int)) > pgflow._count_in(schema -> 'maxLength') then
    expected := format('at most %s characters', schema -> 'maxLength');
  elsif not pgflow._has_format(schema ->> 'format', v_text) then
    expected := format('a text of the format %s', schema ->> 'format');
  else
    return;
  end if;
  path := '';
  got := v_type;
end;
$$;
