-- Runs, their steps and tasks. Moments are microseconds since 1970; payloads are JSON as it was written.
-- Columns that can be long come last, so that reading the others does not read through them.

create table pgflow_runs (
  id integer primary key,
  run_id blob not null,
  flow integer not null references pgflow_flows (id),
  status text not null,
  remaining_steps integer not null,
  -- Number of its newest event.
  last_seq integer not null,
  started_at integer not null,
  ended_at integer,
  cancel_reason text,
  constraint run_id_is_uuid check (length(run_id) = 16),
  constraint status_is_valid check (status in ('started', 'completed', 'failed', 'cancelled')),
  constraint remaining_steps_is_not_negative check (remaining_steps >= 0)
) strict;

create unique index pgflow_runs_run_id_idx on pgflow_runs (run_id);
-- Lists are merged from a few ranges of this one.
create index pgflow_runs_flow_status_idx on pgflow_runs (flow, status, started_at, run_id);

-- Apart from the rows above, which are written often.
create table pgflow_run_data (
  run integer primary key,
  input text not null,
  output text
) strict;

-- The id is run * 65536 + the step's position in the flow: no index is needed to find a run's steps.
create table pgflow_steps (
  id integer primary key,
  slug text not null,
  status text not null,
  remaining_deps integer not null,
  tasks integer,
  remaining_tasks integer,
  -- Id of the task of index 0; the others follow.
  first_task integer,
  started_at integer,
  ended_at integer,
  skip_reason text,
  error text,
  output text,
  constraint status_is_valid check (status in ('created', 'started', 'completed', 'failed', 'skipped')),
  constraint remaining_deps_is_not_negative check (remaining_deps >= 0),
  constraint remaining_tasks_is_not_negative check (remaining_tasks >= 0)
) strict;

create table pgflow_tasks (
  -- The step's first_task + task_index.
  id integer primary key,
  step integer not null,
  task_index integer not null,
  -- Which step of which flow: flow * 65536 + position.
  queue integer not null,
  status text not null,
  -- When it may be claimed; null if it may not, as in a run that has ended.
  ready_at integer,
  -- When its worker is taken for lost; null if nobody has it, or nobody needs it any more.
  lost_at integer,
  -- Claims so far: the number of the newest attempt.
  attempts integer not null default 0,
  -- How many of those do not count towards max_attempts.
  refunded integer not null default 0,
  -- How often its worker was lost.
  losses integer not null default 0,
  started_at integer,
  worker blob,
  error text,
  -- The element of a map, until it is completed.
  input text,
  output text,
  constraint status_is_valid check (status in ('queued', 'started', 'completed', 'failed')),
  constraint ready_only_if_queued check (ready_at is null or status = 'queued'),
  constraint lost_only_if_started check (lost_at is null or status = 'started')
) strict;

-- Exactly what a claim looks for, and what a sweep does.
create index pgflow_tasks_ready_idx on pgflow_tasks (queue, ready_at) where ready_at is not null;
create index pgflow_tasks_lost_idx on pgflow_tasks (lost_at) where lost_at is not null;
