-- Whether a text has no control character. The classes of regular expressions depend on the collation; these are Unicode's, for all programs.
create or replace function pgflow._is_printable(value text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return value !~ '[\u0001-\u001f\u007f-\u009f]';
end;
$$;
