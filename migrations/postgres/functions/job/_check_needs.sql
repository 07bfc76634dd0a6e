-- Refuses capabilities that are no names: null, empty, or longer than 128 bytes. Ids and keys have the same limit, but
-- may be null.
create or replace function pgflow._check_needs(p_needs text[], p_others text[] default null) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wrong text;
begin
  if array_position(p_needs, null) > 0 then
    raise exception 'A need is null'
      using errcode = 'null_value_not_allowed', detail = jsonb_build_object('problem', 'bad_need', 'need', null);
  end if;
  select n into v_wrong from unnest(p_needs || p_others) n where octet_length(n) not between 1 and 128 limit 1;
  if found then
    raise exception 'The name "%" of a need, job or key has % bytes, not 1 to 128', left(v_wrong, 100), octet_length(v_wrong)
      using errcode = 'invalid_parameter_value',
            detail = jsonb_build_object('problem', 'bad_name', 'name', left(v_wrong, 100), 'bytes', octet_length(v_wrong));
  end if;
end;
$$;
