-- Whether a text has a format that every reader of such a type takes; what is not known of those accepts everything. A text that some of them
-- would take and others would not is refused, because its sender can be told so, and a wait that it has closed stays closed.
create or replace function pgflow._has_format(format text, value text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  c_time constant text := '([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]{1,9})?';
  c_offset constant text := '([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])';
begin
  if format is null or value is null
     or format not in ('uuid', 'date', 'partial-time', 'partial-date-time', 'date-time', 'zoned-date-time', 'ipv4', 'ipv6', 'ip') then
    return true;
  end if;
  if octet_length(value) > 100 then
    return false;
  end if;
  return case format
    when 'uuid' then value ~ '^([0-9A-Fa-f]{32}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$'
    when 'date' then pgflow._is_date(value)
    when 'partial-time' then value ~ ('^' || c_time || '$')
    when 'partial-date-time' then value ~ ('^.{10}T' || c_time || '$') and pgflow._is_date(left(value, 10))
    when 'date-time' then value ~ ('^.{10}[Tt ]' || c_time || c_offset || '$') and pgflow._is_date(left(value, 10))
    when 'zoned-date-time' then
      value ~ ('^[ -~]{10}[Tt ]' || c_time || c_offset || '\[[ -Z\\^-~]+\]$') and pgflow._is_date(left(value, 10))
    when 'ipv4' then pgflow._is_ipv4(value)
    when 'ipv6' then pgflow._is_ipv6(value)
    else pgflow._is_ipv4(value) or pgflow._is_ipv6(value) end;
end;
$$;
