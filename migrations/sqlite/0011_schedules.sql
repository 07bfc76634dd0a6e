-- Schedules: runs that start by the clock. Moments are microseconds since 1970.

create table pgflow_schedules (
  name text primary key,
  -- Name of the flow, of whichever version.
  flow text not null,
  -- JSON: what the program was compiled for that made it.
  program text,
  -- JSON: what runs are given.
  input text not null,
  cron text not null,
  time_zone text not null,
  missed text not null,
  overlap text not null,
  origin text not null,
  status text not null,
  paused_at integer,
  -- Another one after each change.
  revision integer not null,
  -- Moments after this one count.
  after_at integer not null,
  -- The next of them, once a worker has found it out.
  next_at integer,
  -- JSON: moments that wait for a run to end, and the ids of their runs.
  queued text not null,
  -- The last moment that started a run, and that run.
  last_at integer,
  last_run blob,
  error text,
  created_at integer not null,
  constraint origin_is_valid check (origin in ('client', 'source')),
  constraint status_is_valid check (status in ('pending', 'active', 'over', 'broken')),
  constraint overlap_is_valid check (overlap in ('allow', 'skip', 'queue')),
  constraint active_has_a_moment check ((status = 'active') = (next_at is not null))
) strict, without rowid;
