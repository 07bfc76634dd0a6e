-- A token that nobody can guess: 244 random bits, as base64url.
create or replace function pgflow._new_token() returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'hk_' || translate(
    encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64'), '+/=', '-_');
end;
$$;
