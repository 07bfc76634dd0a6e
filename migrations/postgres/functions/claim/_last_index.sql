-- No task of a map has a higher index: `limits.max_fanout` is at most that. A number above it is in somebody else's message, where it
-- is looked for: therefore `jsonb`.
create or replace function pgflow._last_index() returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select '10000000'::jsonb $$;
