-- Lets the client know that wake_waits and cancel_abandoned have something to do once this transaction is over: a setting costs
-- nothing where nobody waits, and holds up nobody.
create or replace function pgflow._ask_to_wake() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('pgflow.wakes', 'on', true);
end;
$$;
