-- What a field has to fit that is none of the properties of a schema: fields whose names are numbers, as maps have them, or all others. A
-- pattern that is not known may be meant for any field.
create or replace function pgflow._schema_by_name(patterns jsonb, others jsonb, name text) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pattern text;
begin
  for v_pattern in select k from jsonb_object_keys(patterns) k order by k collate "C" loop
    if v_pattern not in ('^\d+$', '^-?\d+$') then
      return null;
    end if;
    if name ~ replace(v_pattern, '\d', '[0-9]') then
      return patterns -> v_pattern;
    end if;
  end loop;
  return others;
end;
$$;
