-- What is more than this takes some care when it is handed out: see _heavy_input. Four of the largest payloads are not.
create or replace function pgflow._heavy_bytes() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 16777216 $$;
