-- What streams of their own have where others have their run.
create or replace function pgflow._no_run() returns uuid
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select '00000000-0000-0000-0000-000000000000'::uuid $$;
