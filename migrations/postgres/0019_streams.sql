-- Streams: what is said while work goes on; see docs/streams.md. Names compare by bytes.

create table pgflow.streams (
  id bigint generated always as identity,
  -- The run whose task it is of; the nil UUID for a stream of its own.
  run_id uuid not null,
  -- Of a stream of its own.
  expires_at timestamptz,
  -- The number of the first chunk of its generation.
  begins_at bigint not null default 0,
  -- The number that the next chunk gets.
  next_number bigint not null default 0,
  -- Of all chunks.
  bytes bigint not null default 0,
  -- The attempt that wrote last; 0 in a stream of its own.
  generation int not null default 0,
  task_index int not null,
  has_ended boolean not null default false,
  -- Slug of the step, or the stream's own name.
  name text collate "C" not null,
  error text,
  constraint streams_pkey primary key (id),
  constraint streams_name_is_unique unique (run_id, name, task_index),
  constraint streams_begins_inside check (begins_at between 0 and next_number),
  constraint streams_error_only_at_the_end check (error is null or has_ended),
  constraint streams_expires_if_its_own check ((expires_at is not null) = (run_id = '00000000-0000-0000-0000-000000000000'))
) with (fillfactor = 50);
create index streams_by_expiry on pgflow.streams (expires_at) where expires_at is not null;

-- What each writer's next chunk is numbered by the writer: what was sent before is there.
create table pgflow.stream_writers (
  stream bigint not null,
  next_seq bigint not null,
  writer text collate "C" not null,
  constraint stream_writers_pkey primary key (stream, writer)
) with (fillfactor = 50);

create table pgflow.stream_chunks (
  stream bigint not null,
  number bigint not null,
  -- Bytes of all chunks before it.
  starts_at bigint not null,
  generation int not null,
  data bytea not null,
  constraint stream_chunks_pkey primary key (stream, number)
);
