-- What a field has to fit that is none of the properties of a schema: fields whose names are numbers, as maps have them, or all others. A
-- pattern that is not known may be meant for any field. Numbers are such as maps of Rust write and read them: without needless zeros and
-- signs, of 128 bits at most; which integer of Rust is meant, a pattern does not say.
create or replace function pgflow._schema_by_name(patterns jsonb, others jsonb, name text) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pattern text;
  v_number numeric := case when name ~ '^(0|-?[1-9][0-9]{0,38})$' then name::numeric end;
begin
  for v_pattern in select k from jsonb_object_keys(patterns) k order by k collate "C" loop
    if v_pattern not in ('^\d+$', '^-?\d+$') then
      return null;
    end if;
    if v_pattern = '^\d+$' and v_number between 0 and 340282366920938463463374607431768211455
       or v_pattern = '^-?\d+$' and v_number between -170141183460469231731687303715884105728 and 170141183460469231731687303715884105727 then
      return patterns -> v_pattern;
    end if;
  end loop;
  return others;
end;
$$;
