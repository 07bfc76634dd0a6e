-- Waits: attempts that end before what they are for has happened. Moments are microseconds since 1970. Names are bytes, so that
-- no collation takes two of them for one.

alter table pgflow_tasks drop constraint pgflow_tasks_status_is_valid;

alter table pgflow_tasks add constraint pgflow_tasks_status_is_valid
  check (status in ('queued', 'started', 'waiting', 'completed', 'failed'));

-- Tasks of it wait, or have waited; and whether a task waits for its end, or has. All others are not looked at for waits.
alter table pgflow_runs add column waits tinyint not null default 0, add column awaited tinyint not null default 0;

-- What a task waits for: a row while it does.
create table pgflow_waits (
  run binary(16) not null,
  step varbinary(128) not null,
  task_index int unsigned not null,
  -- The attempt that ended with it.
  attempt int unsigned not null,
  kind varchar(16) not null,
  since bigint not null,
  -- Until when at most; for a sleep, when it ends.
  until_at bigint,
  token varbinary(200),
  payload_schema longtext,
  -- How children ended is the output, also if that is not well.
  outcomes tinyint not null,
  -- Children go on when nobody waits for them any more.
  detached tinyint not null,
  -- The output is an array with an element per child.
  each_child tinyint not null,
  primary key (run, step, task_index),
  key pgflow_waits_until (until_at),
  key pgflow_waits_since (since, run, step, task_index),
  key pgflow_waits_run (run, since, step, task_index),
  unique key pgflow_waits_token (token),
  constraint pgflow_waits_kind_is_known check (kind in ('hook', 'sleep', 'runs', 'jobs'))
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- Children that are waited for, and those that nobody waits for any more until they are cancelled.
create table pgflow_awaited (
  run binary(16) not null,
  step varbinary(128) not null,
  task_index int unsigned not null,
  attempt int unsigned not null,
  position int unsigned not null,
  kind varchar(8) not null,
  -- A run's UUID or a job's id, as text.
  child varbinary(128) not null,
  -- How it ended, once it has.
  status varchar(16),
  message longtext,
  -- It has ended since somebody looked.
  is_news tinyint not null default 0,
  is_orphan tinyint not null default 0,
  -- Why it is to be cancelled, if nobody waits for it any more.
  orphaned longtext,
  primary key (run, step, task_index, attempt, position),
  key pgflow_awaited_child (child),
  key pgflow_awaited_news (is_news),
  key pgflow_awaited_orphans (is_orphan)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- Whose hook a token is: announced ones for as long as the run is there, others while somebody waits. One that nobody has is there
-- to be locked by those who send and those who begin to wait.
create table pgflow_hooks (
  token varbinary(200) not null,
  run binary(16),
  step varbinary(128),
  task_index int unsigned,
  primary key (token),
  key pgflow_hooks_task (run, step, task_index)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- What was sent: once for each target and resume id.
create table pgflow_signals (
  id bigint not null auto_increment,
  target varbinary(400) not null,
  resume_id varbinary(200) not null,
  -- The run that it is of, if that is known.
  run binary(16),
  -- While nobody has it: what it says, and until when it is kept.
  payload longtext,
  expires_at bigint,
  primary key (id),
  unique key pgflow_signals_resume_id (target, resume_id),
  key pgflow_signals_target (target, expires_at),
  key pgflow_signals_run (run),
  key pgflow_signals_kept (expires_at)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;
