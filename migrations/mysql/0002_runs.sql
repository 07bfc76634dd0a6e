-- Runs, their steps and tasks. Moments are microseconds since 1970; payloads are JSON as it was written, not of the type
-- JSON, which reorders keys. Ids of runs are UUIDs that grow with time, so new rows come last in every table.

create table pgflow_runs (
  id binary(16) not null,
  flow bigint not null,
  status varchar(16) not null,
  remaining_steps int unsigned not null,
  -- Number of its newest event.
  last_seq bigint not null,
  started_at bigint not null,
  ended_at bigint,
  -- Which steps its output is put together from, as JSON; null until it has completed.
  output_steps longtext,
  cancel_reason longtext,
  primary key (id),
  -- Lists are merged from a few ranges of this one.
  key pgflow_runs_listed (flow, status, started_at, id),
  -- What a prune looks for.
  key pgflow_runs_ended (ended_at),
  constraint pgflow_runs_status_is_valid check (status in ('started', 'completed', 'failed', 'cancelled'))
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- Apart from the rows above, which are written often.
create table pgflow_run_data (
  run binary(16) not null,
  input_bytes bigint not null,
  input longtext not null,
  primary key (run)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

create table pgflow_steps (
  run binary(16) not null,
  -- Its position in the flow.
  step smallint unsigned not null,
  status varchar(16) not null,
  remaining_deps int unsigned not null,
  tasks int unsigned,
  remaining_tasks int unsigned,
  started_at bigint,
  ended_at bigint,
  skip_reason varchar(64),
  -- Bytes of what its tasks have put out. That itself is kept with them, and not here again.
  output_bytes bigint,
  error longtext,
  primary key (run, step),
  constraint pgflow_steps_status_is_valid
    check (status in ('created', 'started', 'completed', 'failed', 'skipped'))
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

create table pgflow_tasks (
  run binary(16) not null,
  step smallint unsigned not null,
  task_index int unsigned not null,
  -- Which step of which flow: flow * 65536 + step.
  queue bigint not null,
  status varchar(16) not null,
  -- When it may be claimed; null if it may not, as in a run that has ended.
  ready_at bigint,
  -- When its worker is taken for lost; null if nobody has it, or nobody needs it any more.
  lost_at bigint,
  -- Claims so far: the number of the newest attempt.
  attempts int unsigned not null default 0,
  -- How many of those do not count towards max_attempts.
  refunded int unsigned not null default 0,
  -- How often its worker was lost.
  losses int unsigned not null default 0,
  started_at bigint,
  worker binary(16),
  error longtext,
  -- The element of a map, until it is completed.
  input longtext,
  output longtext,
  primary key (run, step, task_index),
  -- What a claim looks for, in its order; what a sweep and what a worker that lost an answer look for.
  key pgflow_tasks_ready (queue, ready_at),
  key pgflow_tasks_lost (lost_at),
  constraint pgflow_tasks_status_is_valid check (status in ('queued', 'started', 'completed', 'failed')),
  constraint pgflow_tasks_ready_only_if_queued check (ready_at is null or status = 'queued'),
  constraint pgflow_tasks_lost_only_if_started check (lost_at is null or status = 'started')
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- What happened in each run. Inputs and outputs are not repeated here: they do not change any more once there is an
-- event about them.
create table pgflow_events (
  run binary(16) not null,
  seq bigint not null,
  at bigint not null,
  -- A JSON object; `step` in it is the step's position in the flow.
  entry longtext not null,
  primary key (run, seq)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;
