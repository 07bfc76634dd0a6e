-- Remembers that a worker function exists and was just started.
create or replace function pgflow.track_worker_function(function_name text) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into pgflow.worker_functions (function_name, last_invoked_at)
  values (track_worker_function.function_name, clock_timestamp())
  on conflict on constraint worker_functions_pkey
  do update set last_invoked_at = clock_timestamp(), updated_at = clock_timestamp()
$$;
