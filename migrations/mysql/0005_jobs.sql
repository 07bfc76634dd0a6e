-- Jobs: work that carries only what it needs next. Moments are microseconds since 1970. Names are bytes, so that no
-- collation takes two of them for one.

create table pgflow_jobs (
  -- Its place in line, kept for life, also in the archive: never used twice.
  seq bigint not null auto_increment,
  id varbinary(128) not null,
  need varbinary(128) not null,
  payload longtext not null,
  priority int not null,
  -- The priority, the other way round: the order of the index.
  urgency bigint not null,
  -- Stored, because a claim has to find it.
  state varchar(16) not null,
  wake_at bigint,
  waits int unsigned not null,
  job_key varbinary(128),
  expires_at bigint,
  attempts int unsigned not null,
  -- Attempts that do not count: before a hand-over or a redrive.
  forgiven int unsigned not null,
  failures int unsigned not null,
  lapses int unsigned not null,
  streak int unsigned not null,
  max_attempts int unsigned,
  -- Who wants it cancelled, when and why, as JSON.
  cancel longtext,
  -- The token of its newest lease that was settled.
  settled varchar(191),
  error longtext,
  created_at bigint not null,
  primary key (seq),
  unique key pgflow_jobs_id (id),
  key pgflow_jobs_ready (need, state, urgency, seq),
  key pgflow_jobs_asleep (need, state, wake_at),
  key pgflow_jobs_line (job_key, state, need, urgency, seq),
  key pgflow_jobs_expiry (expires_at),
  key pgflow_jobs_state (state, seq),
  constraint pgflow_jobs_waiting_for_something check ((state = 'waiting') = (waits > 0))
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- Narrow, because heartbeats change it.
create table pgflow_job_leases (
  job bigint not null,
  token varchar(191) not null,
  until bigint not null,
  worker varchar(191) not null,
  primary key (job),
  key pgflow_job_leases_until (until)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- Who waits for which job or run.
create table pgflow_job_edges (
  kind varchar(8) not null,
  dependency varbinary(128) not null,
  waiter varbinary(128) not null,
  -- What becomes of the waiter if the dependency does not end well.
  policy varchar(8) not null,
  primary key (kind, dependency, waiter),
  key pgflow_job_edges_waiter (waiter)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- Which leased job has a key. Whoever changes the line of a key locks its row, which may have no holder.
create table pgflow_job_keys (
  job_key varbinary(128) not null,
  holder varbinary(128),
  primary key (job_key)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- Jobs that have ended; their names are not used again.
create table pgflow_job_archive (
  id varbinary(128) not null,
  seq bigint not null,
  need varbinary(128) not null,
  payload longtext not null,
  priority int not null,
  urgency bigint not null,
  state varchar(16) not null,
  wake_at bigint,
  waits int unsigned not null,
  job_key varbinary(128),
  expires_at bigint,
  attempts int unsigned not null,
  forgiven int unsigned not null,
  failures int unsigned not null,
  lapses int unsigned not null,
  streak int unsigned not null,
  max_attempts int unsigned,
  cancel longtext,
  settled varchar(191),
  error longtext,
  created_at bigint not null,
  outcome varchar(16) not null,
  output longtext,
  ended_at bigint not null,
  primary key (id),
  unique key pgflow_job_archive_seq (seq),
  key pgflow_job_archive_ended (ended_at),
  key pgflow_job_archive_outcome (outcome, ended_at)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- What happened, for people: only ever appended to.
create table pgflow_job_trace (
  number bigint not null auto_increment,
  job varbinary(128) not null,
  at bigint not null,
  kind varchar(16) not null,
  who varchar(191),
  token varchar(191),
  detail longtext,
  primary key (number),
  key pgflow_job_trace_job (job, number)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

create table pgflow_job_settings (
  id tinyint not null,
  trace tinyint not null,
  crash_threshold int unsigned not null,
  primary key (id)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

insert into pgflow_job_settings (id, trace, crash_threshold) values (1, 1, 5);
