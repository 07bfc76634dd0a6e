-- What schemas in a schema say of a value: allOf, anyOf, oneOf, not; see _mismatch. Where no alternative fits, the one that got furthest says
-- most. Not one that is of another tag, and hardly one for which the whole is something else, or lacks a field.
create or replace function pgflow._mismatch_of_all(
  schema jsonb, value jsonb, root jsonb, refs int, inout used int, out path text, out expected text, out got text, out of_constant boolean
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_word text;
  v_part jsonb;
  v_wrong record;
  v_fits boolean;
  v_resemblance int;
  v_best int;
begin
  foreach v_word in array array['allOf', 'anyOf', 'oneOf'] loop
    continue when jsonb_typeof(schema -> v_word) is distinct from 'array';
    v_fits := v_word = 'allOf';
    for v_part in select a.part from jsonb_array_elements(schema -> v_word) with ordinality a(part, n) order by a.n loop
      select m.* into v_wrong from pgflow._mismatch(v_part, value, root, refs, used) m;
      used := v_wrong.used;
      v_fits := v_wrong.path is null;
      continue when v_fits and v_word = 'allOf';
      exit when v_fits;
      v_resemblance := case
        when v_wrong.path = '' then 1
        when v_wrong.path !~ '^/[^/]*$' then 3
        when v_wrong.of_constant then 0
        when v_wrong.got = 'nothing' then 2
        else 3 end;
      if path is null or (v_resemblance, octet_length(v_wrong.path)) > (v_best, octet_length(path)) then
        path := v_wrong.path; expected := v_wrong.expected; got := v_wrong.got; of_constant := v_wrong.of_constant;
        v_best := v_resemblance;
      end if;
      exit when v_word = 'allOf';
    end loop;
    if v_fits then
      path := null; expected := null; got := null; of_constant := null;
    elsif v_word <> 'allOf' and coalesce(path, '') = '' then
      path := ''; expected := 'one of the alternatives'; got := jsonb_typeof(value); of_constant := null;
    end if;
    exit when not v_fits;
  end loop;
  if path is null and schema ? 'not' then
    select m.* into v_wrong from pgflow._mismatch(schema -> 'not', value, root, refs, used) m;
    used := v_wrong.used;
    if v_wrong.path is null then
      path := ''; expected := 'something else'; got := jsonb_typeof(value);
    end if;
  end if;
end;
$$;
