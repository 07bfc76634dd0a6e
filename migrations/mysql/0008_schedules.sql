-- Schedules: runs that start by the clock. Moments are microseconds since 1970. Names are bytes, so that no collation
-- takes two of them for one.

create table pgflow_schedules (
  name varbinary(128) not null,
  -- Name of the flow, of whichever version.
  flow varchar(255) not null,
  -- JSON: what the program was compiled for that made it.
  program longtext,
  -- JSON: what runs are given.
  input longtext not null,
  cron text not null,
  time_zone varchar(255) not null,
  missed varchar(16) not null,
  overlap varchar(16) not null,
  origin varchar(16) not null,
  status varchar(16) not null,
  paused_at bigint,
  -- Another one after each change.
  revision bigint not null,
  -- Moments after this one count.
  after_at bigint not null,
  -- The next of them, once a worker has found it out.
  next_at bigint,
  -- JSON: moments that wait for a run to end, and the ids of their runs.
  queued longtext not null,
  -- The last moment that started a run, and that run.
  last_at bigint,
  last_run binary(16),
  error longtext,
  created_at bigint not null,
  primary key (name),
  constraint pgflow_schedules_origin_is_valid check (origin in ('client', 'source')),
  constraint pgflow_schedules_status_is_valid check (status in ('pending', 'active', 'over', 'broken')),
  constraint pgflow_schedules_overlap_is_valid check (overlap in ('allow', 'skip', 'queue'))
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;
