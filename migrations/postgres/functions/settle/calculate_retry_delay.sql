-- Seconds to wait after an attempt: base_delay * 2 ^ attempts, held below what an int can say.
create or replace function pgflow.calculate_retry_delay(base_delay numeric, attempts_count int) returns int
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  -- At 2 ^ 100 any delay that somebody might mean is past the limit: no larger power is computed.
  select least(floor(base_delay * 2::numeric ^ least(attempts_count, 100)), 2147483647)::int
$$;
