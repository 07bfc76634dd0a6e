-- Refuses a retention that would delete what has not ended yet, or that says nothing.
create or replace function pgflow._check_retention(retention interval) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if _check_retention.retention is null or _check_retention.retention < interval '0' then
    raise exception 'A retention of % is no time', coalesce(_check_retention.retention::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
end;
$$;
