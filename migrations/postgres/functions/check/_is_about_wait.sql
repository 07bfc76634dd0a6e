-- Whether events of this type are about a task that waits, and not about the state of its step.
create or replace function pgflow._is_about_wait(event_type text) returns boolean
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select event_type in ('step:waiting', 'step:signalled', 'step:signal_dropped', 'step:woken', 'step:wait_timed_out') $$;
