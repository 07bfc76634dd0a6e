-- Refuses an ending of settle_job that is none: it, its forks and what is to be waited for have to be what they are said to be.
create or replace function pgflow._check_ending(p_ending jsonb) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_ending) is distinct from 'object' or exists (
    select from (values (p_ending -> 'forks'), (p_ending -> 'after')) v(list)
     where jsonb_typeof(v.list) <> 'array'
        or exists (select from jsonb_array_elements(case when jsonb_typeof(v.list) = 'array' then v.list end) e
                    where jsonb_typeof(e) <> 'object' or jsonb_typeof(e -> 'after') <> 'array')) then
    raise exception 'An ending is an object, with arrays of objects for "forks" and "after"'
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_ending');
  end if;
end;
$$;
