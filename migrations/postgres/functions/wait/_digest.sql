-- A payload in short, to tell whether another one is the same.
create or replace function pgflow._digest(payload jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select encode(sha256(convert_to(payload::text, 'UTF8')), 'hex') $$;
