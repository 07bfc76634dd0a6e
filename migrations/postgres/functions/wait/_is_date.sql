-- Whether a text is a day that there is, like 2026-11-17.
create or replace function pgflow._is_date(value text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_year int;
  v_month int;
begin
  if value !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' then
    return false;
  end if;
  v_year := left(value, 4)::int;
  v_month := substr(value, 6, 2)::int;
  return right(value, 2)::int <= case
    when v_month in (4, 6, 9, 11) then 30
    when v_month <> 2 then 31
    when v_year % 4 = 0 and (v_year % 100 <> 0 or v_year % 400 = 0) then 29
    else 28 end;
end;
$$;
