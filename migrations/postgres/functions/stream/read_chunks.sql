-- Chunks of the stream of this name, and where it stands: next_number is that of the next chunk, is_over that none will come, error
-- why. `stream` is another one if the stream was deleted and written again, and null if it is not there. One row without a chunk if there is none from this number on.
create or replace function pgflow.read_chunks(
  name text, from_number bigint default 0, max_chunks int default 256, max_bytes int default 1048576
)
returns table (
  number bigint, generation int, data bytea, next_number bigint, newest_generation int, begins_at bigint, has_ended boolean,
  error text, is_over boolean, stream bigint
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select s.number, s.generation, s.data, s.next_number, s.newest_generation, s.begins_at, s.has_ended, s.error, s.has_ended, s.stream
      from pgflow._read_stream(
        pgflow._no_run(), read_chunks.name, 0, read_chunks.from_number, read_chunks.max_chunks, read_chunks.max_bytes) s;
end;
$$;
