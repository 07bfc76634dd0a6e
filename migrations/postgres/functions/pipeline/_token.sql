-- A token as it is stored; null for a text that is none, which opens nothing.
create or replace function pgflow._token(p_token text) returns uuid
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_token ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then p_token::uuid end;
end;
$$;
