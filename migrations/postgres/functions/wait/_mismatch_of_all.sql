-- What schemas in a schema say of a value: allOf, anyOf, oneOf; see _mismatch. Where no alternative fits, the one that got furthest says
-- most.
create or replace function pgflow._mismatch_of_all(
  schema jsonb, value jsonb, place text, root jsonb, refs int, out path text, out expected text, out got text
)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_word text;
  v_fits boolean;
begin
  select m.path, m.expected, m.got into path, expected, got
    from jsonb_array_elements(case when jsonb_typeof(schema -> 'allOf') = 'array' then schema -> 'allOf' else '[]' end)
      with ordinality a(part, n)
    cross join lateral pgflow._mismatch(a.part, _mismatch_of_all.value, place, root, refs) m
   where m.path is not null order by a.n limit 1;
  foreach v_word in array array['anyOf', 'oneOf'] loop
    exit when path is not null;
    continue when jsonb_typeof(schema -> v_word) is distinct from 'array';
    select coalesce(bool_or(m.path is null), false),
           (array_agg(m.path order by octet_length(m.path) desc, a.n))[1], (array_agg(m.expected order by octet_length(m.path) desc, a.n))[1],
           (array_agg(m.got order by octet_length(m.path) desc, a.n))[1]
      into v_fits, path, expected, got
      from jsonb_array_elements(schema -> v_word) with ordinality a(part, n)
      cross join lateral pgflow._mismatch(a.part, _mismatch_of_all.value, place, root, refs) m;
    if v_fits then
      path := null; expected := null; got := null;
    elsif coalesce(octet_length(path), 0) <= octet_length(place) then
      path := place; expected := 'one of the alternatives'; got := jsonb_typeof(_mismatch_of_all.value);
    end if;
  end loop;
end;
$$;
