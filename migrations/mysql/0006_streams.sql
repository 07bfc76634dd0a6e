-- Streams: what is said while work goes on. Moments are microseconds since 1970. Names are bytes, so that no collation
-- takes two of them for one.

create table pgflow_streams (
  id bigint not null auto_increment,
  -- The run whose task it is of; 16 zero bytes for a stream of its own.
  run binary(16) not null,
  -- Slug of the step, or the stream's own name.
  name varbinary(128) not null,
  task_index int unsigned not null,
  -- The attempt that wrote last; 0 in a stream of its own.
  generation int unsigned not null,
  -- The number of its first chunk.
  begins_at bigint unsigned not null,
  -- The number that the next chunk gets.
  next_number bigint unsigned not null,
  -- Of all chunks.
  bytes bigint unsigned not null,
  has_ended tinyint not null,
  error longtext,
  -- Of a stream of its own.
  expires_at bigint,
  primary key (id),
  unique key pgflow_streams_name (run, name, task_index),
  key pgflow_streams_expiry (expires_at),
  constraint pgflow_streams_begins_inside check (begins_at <= next_number),
  constraint pgflow_streams_error_at_the_end check (error is null or has_ended = 1)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- What each writer's next chunk is numbered by the writer: what was sent before is there.
create table pgflow_stream_writers (
  stream bigint not null,
  writer varbinary(128) not null,
  next_seq bigint unsigned not null,
  primary key (stream, writer)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

create table pgflow_stream_chunks (
  stream bigint not null,
  number bigint unsigned not null,
  generation int unsigned not null,
  -- Bytes of all chunks before it.
  starts_at bigint unsigned not null,
  data longblob not null,
  primary key (stream, number)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;
