-- Whether a text may be the token of a hook.
create or replace function pgflow._is_token(token text) returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(octet_length(token) between 1 and 200 and pgflow._is_printable(token), false);
end;
$$;
