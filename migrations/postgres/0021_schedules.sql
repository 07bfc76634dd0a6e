-- Schedules: runs that start by the clock; see docs/schedules.md. Names compare by bytes.

create table pgflow.schedules (
  name text collate "C" not null,
  -- Name of the flow, of whichever version.
  flow_slug text not null,
  -- What the program was compiled for that made it: see _flow_to_start.
  versions int[],
  interface text,
  -- What runs are given.
  input jsonb not null,
  -- When: only workers can read it.
  cron text not null,
  time_zone text not null default 'UTC',
  missed text not null default 'last',
  overlap text not null default 'allow',
  -- Whether it was made at run time, or by the source of its flow.
  origin text not null default 'client',
  status text not null default 'pending',
  paused_at timestamptz,
  -- Another one after each change: what a worker found out about an older one does not count.
  revision bigint not null default 1,
  -- Moments after this one count.
  after_at timestamptz not null default clock_timestamp(),
  -- The next of them, once a worker has found it out.
  next_at timestamptz,
  -- Moments that wait for a run to end, and the ids of their runs.
  queued_at timestamptz[] not null default '{}',
  queued_runs uuid[] not null default '{}',
  -- The last moment that started a run, and that run.
  last_at timestamptz,
  last_run uuid,
  -- Why it is broken, or its last moment could not start a run.
  error text,
  created_at timestamptz not null default clock_timestamp(),
  constraint schedules_pkey primary key (name),
  constraint schedules_name_is_valid check (octet_length(name) between 1 and 128),
  constraint schedules_missed_is_valid check (missed ~ '^(skip|last|all\(([1-9][0-9]{0,2}|1000)\))$'),
  constraint schedules_overlap_is_valid check (overlap in ('allow', 'skip', 'queue')),
  constraint schedules_origin_is_valid check (origin in ('client', 'source')),
  constraint schedules_status_is_valid check (status in ('pending', 'active', 'over', 'broken')),
  constraint schedules_active_has_a_moment check ((status = 'active') = (next_at is not null)),
  constraint schedules_queue_is_whole check (cardinality(queued_at) = cardinality(queued_runs))
);
create index schedules_by_moment on pgflow.schedules (next_at) where paused_at is null;

-- It can begin later now.
drop function if exists pgflow.start_run(text, jsonb, uuid, int[], text);
