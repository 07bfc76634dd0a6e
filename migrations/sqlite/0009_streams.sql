-- Streams: what is said while work goes on. Moments are microseconds since 1970.

create table pgflow_streams (
  id integer primary key autoincrement,
  -- The run whose task it is of, by its UUID; 16 zero bytes for a stream of its own.
  run_id blob not null,
  -- Slug of the step, or the stream's own name.
  name text not null,
  task_index integer not null,
  -- The attempt that wrote last; 0 in a stream of its own.
  generation integer not null,
  -- The number of its first chunk.
  begins_at integer not null,
  -- The number that the next chunk gets.
  next_number integer not null,
  -- Of all chunks.
  bytes integer not null,
  has_ended integer not null,
  error text,
  -- Of a stream of its own.
  expires_at integer,
  unique (run_id, name, task_index),
  constraint run_id_is_uuid check (length(run_id) = 16),
  constraint begins_inside check (begins_at between 0 and next_number),
  constraint error_only_at_the_end check (error is null or has_ended),
  constraint expires_if_its_own check ((expires_at is not null) = (run_id = zeroblob(16)))
) strict;

create index pgflow_streams_expiry on pgflow_streams (expires_at) where expires_at is not null;

-- What each writer's next chunk is numbered by the writer: what was sent before is there.
create table pgflow_stream_writers (
  stream integer not null,
  writer text not null,
  next_seq integer not null,
  primary key (stream, writer)
) strict, without rowid;

create table pgflow_stream_chunks (
  stream integer not null,
  number integer not null,
  generation integer not null,
  -- Bytes of all chunks before it.
  starts_at integer not null,
  data blob not null,
  primary key (stream, number)
) strict, without rowid;
