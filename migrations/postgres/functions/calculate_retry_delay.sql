-- Seconds to wait after an attempt: base_delay * 2 ^ attempts, held below what an int can say.
create or replace function pgflow.calculate_retry_delay(base_delay numeric, attempts_count int) returns int
language sql immutable parallel safe
set search_path = ''
as $$
  -- At 2 ^ 31 any delay of a second or more is past the limit, so larger powers need no computing.
  select least(floor(base_delay * 2::numeric ^ least(attempts_count, 31)), 2147483647)::int
$$;
