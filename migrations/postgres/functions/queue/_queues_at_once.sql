-- On so many queues a transaction keeps locks, beside those that it only looks at: a queue and its indexes take four, and a
-- server has 64 for each connection that it may have.
create or replace function pgflow._queues_at_once() returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 32 $$;
