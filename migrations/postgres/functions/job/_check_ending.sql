-- Refuses an ending of settle_job that is none: it, its forks, what is to be waited for, and every number and moment have to be what they are
-- said to be.
create or replace function pgflow._check_ending(p_ending jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part jsonb;
begin
  if jsonb_typeof(p_ending) is distinct from 'object' or exists (
    select from (values (p_ending -> 'forks'), (p_ending -> 'after')) v(list)
     where jsonb_typeof(v.list) <> 'array'
        or exists (select from jsonb_array_elements(case when jsonb_typeof(v.list) = 'array' then v.list end) e
                    where jsonb_typeof(e) <> 'object' or jsonb_typeof(e -> 'after') <> 'array')) then
    raise exception 'An ending is an object, with arrays of objects for "forks" and "after"'
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_ending');
  end if;
  for v_part in select p_ending union all select f from jsonb_array_elements(p_ending -> 'forks') f loop
    perform (v_part ->> 'delay')::bigint, (v_part ->> 'lifetime')::bigint, (v_part ->> 'max_attempts')::int, (v_part ->> 'priority')::int,
            (v_part ->> 'frees_key')::boolean, pgflow._moment(v_part -> 'wake_at'), pgflow._moment(v_part -> 'expires_at');
  end loop;
exception when invalid_text_representation or numeric_value_out_of_range or invalid_datetime_format or datetime_field_overflow then
  raise exception 'An ending has whole numbers where it has numbers, and moments where it has those: %', sqlerrm
    using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_ending');
end;
$$;
