-- Jobs: work that carries only what it needs next. Moments are microseconds since 1970.

create table pgflow_jobs (
  -- Its place in line, kept for life, also in the archive: never used twice.
  seq integer primary key autoincrement,
  id text not null unique,
  need text not null,
  payload text not null,
  priority integer not null,
  -- Stored, because a claim has to find it.
  state text not null,
  wake_at integer,
  waits integer not null,
  key text,
  expires_at integer,
  attempts integer not null,
  -- Attempts that do not count: before a hand-over or a redrive.
  forgiven integer not null,
  failures integer not null,
  lapses integer not null,
  streak integer not null,
  max_attempts integer,
  -- Who wants it cancelled, when and why, as JSON.
  cancel text,
  -- The token of its newest lease that was settled.
  settled text,
  error text,
  created_at integer not null,
  constraint state_is_known
    check (state in ('ready', 'sleeping', 'waiting', 'parked', 'leased', 'concern', 'expired')),
  constraint waiting_for_something check ((state = 'waiting') = (waits > 0))
) strict;

create index pgflow_jobs_ready on pgflow_jobs (need, priority desc, seq) where state = 'ready';
create index pgflow_jobs_asleep on pgflow_jobs (need, wake_at) where state = 'sleeping';
create index pgflow_jobs_line on pgflow_jobs (key, state, need, priority desc, seq) where key is not null;
-- What people have to decide about.
create index pgflow_jobs_concern on pgflow_jobs (seq) where state = 'concern';
create index pgflow_jobs_expiry on pgflow_jobs (expires_at) where expires_at is not null;

-- Narrow, because heartbeats change it.
create table pgflow_job_leases (
  job integer primary key,
  token text not null,
  until integer not null,
  worker text not null
) strict;

create index pgflow_job_leases_until on pgflow_job_leases (until);

-- Who waits for which job or run.
create table pgflow_job_edges (
  kind text not null,
  dependency text not null,
  waiter text not null,
  -- What becomes of the waiter if the dependency does not end well.
  policy text not null,
  primary key (kind, dependency, waiter),
  constraint kind_is_known check (kind in ('job', 'run')),
  constraint policy_is_known check (policy in ('release', 'fail', 'cancel'))
) strict, without rowid;

create index pgflow_job_edges_waiter on pgflow_job_edges (waiter);

-- Which leased job has a key.
create table pgflow_job_keys (
  key text primary key,
  holder text not null
) strict, without rowid;

-- Jobs that have ended; their names are not used again.
create table pgflow_job_archive (
  id text primary key,
  seq integer not null unique,
  need text not null,
  payload text not null,
  priority integer not null,
  state text not null,
  wake_at integer,
  waits integer not null,
  key text,
  expires_at integer,
  attempts integer not null,
  forgiven integer not null,
  failures integer not null,
  lapses integer not null,
  streak integer not null,
  max_attempts integer,
  cancel text,
  settled text,
  error text,
  created_at integer not null,
  outcome text not null,
  output text,
  ended_at integer not null,
  constraint outcome_is_known check (outcome in ('done', 'failed', 'cancelled', 'expired', 'crashed'))
) strict, without rowid;

create index pgflow_job_archive_ended on pgflow_job_archive (ended_at);
-- Rare ones among many that are done.
create index pgflow_job_archive_not_done on pgflow_job_archive (outcome, ended_at) where outcome <> 'done';

-- What happened, for people: only ever appended to.
create table pgflow_job_trace (
  number integer primary key autoincrement,
  job text not null,
  at integer not null,
  kind text not null,
  by text,
  token text,
  detail text
) strict;

create index pgflow_job_trace_job on pgflow_job_trace (job, number);

create table pgflow_job_settings (
  id integer primary key check (id = 1),
  trace integer not null,
  crash_threshold integer not null check (crash_threshold > 0)
) strict;

insert into pgflow_job_settings (id, trace, crash_threshold) values (1, 1, 5);
