-- Whether a text is an address of IPv4, without zeros before its numbers.
create or replace function pgflow._is_ipv4(value text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return value ~ '^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])$';
end;
$$;
