-- A random id that sorts by time (version 7).
--
-- Ids in random order would touch a page of every index for each run; these fill pages one after
-- the other, which keeps inserts, cache and WAL small however many runs there are.
create or replace function pgflow._time_ordered_uuid() returns uuid
language plpgsql volatile parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return encode(
    set_bit(set_bit(
      overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6
      ), 52, 1), 53, 1),
    'hex')::uuid;
end;
$$;
