-- Waits: attempts that end before what they are for has happened. Moments are microseconds since 1970.

-- A task may wait. SQLite cannot change a constraint, so the table is made anew; ids stay, and with them all that points there.
create table pgflow_tasks_anew (
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
  yielded_attempt integer,
  yield_reason text,
  constraint status_is_valid check (status in ('queued', 'started', 'waiting', 'completed', 'failed')),
  constraint ready_only_if_queued check (ready_at is null or status = 'queued'),
  constraint lost_only_if_started check (lost_at is null or status = 'started')
) strict;

insert into pgflow_tasks_anew (
  id, step, task_index, queue, status, ready_at, lost_at, attempts, refunded, losses, started_at, worker, error, input, output,
  yielded_attempt, yield_reason
)
select id, step, task_index, queue, status, ready_at, lost_at, attempts, refunded, losses, started_at, worker, error, input, output,
       yielded_attempt, yield_reason
  from pgflow_tasks order by id;

drop table pgflow_tasks;
alter table pgflow_tasks_anew rename to pgflow_tasks;
create index pgflow_tasks_ready_idx on pgflow_tasks (queue, ready_at) where ready_at is not null;
create index pgflow_tasks_lost_idx on pgflow_tasks (lost_at) where lost_at is not null;

-- Tasks of it wait, or have waited; and whether a task waits for its end, or has. All others are not looked at for waits.
alter table pgflow_runs add column waits integer not null default 0;
alter table pgflow_runs add column awaited integer not null default 0;

-- What a task waits for: a row while it does.
create table pgflow_waits (
  id integer primary key,
  run_id blob not null,
  step text not null,
  task_index integer not null,
  -- The attempt that ended with it.
  attempt integer not null,
  kind text not null,
  since integer not null,
  -- Until when at most; for a sleep, when it ends.
  until integer,
  token text,
  schema text,
  -- How children ended is the output, also if that is not well.
  outcomes integer not null,
  -- Children go on when nobody waits for them any more.
  detached integer not null,
  -- The output is an array with an element per child.
  each integer not null,
  unique (run_id, step, task_index),
  constraint kind_is_known check (kind in ('hook', 'sleep', 'runs', 'jobs')),
  constraint token_only_of_a_hook check ((token is not null) = (kind = 'hook')),
  constraint sleep_has_an_end check (kind <> 'sleep' or until is not null)
) strict;

create index pgflow_waits_until on pgflow_waits (until) where until is not null;
create index pgflow_waits_since on pgflow_waits (since);
create index pgflow_waits_run on pgflow_waits (run_id, since);
create unique index pgflow_waits_token on pgflow_waits (token) where token is not null;

-- Children that are waited for, and those that nobody waits for any more until they are cancelled.
create table pgflow_awaited (
  run_id blob not null,
  step text not null,
  task_index integer not null,
  attempt integer not null,
  position integer not null,
  kind text not null,
  -- A run's UUID or a job's id, as text.
  child text not null,
  -- How it ended, once it has.
  status text,
  message text,
  -- It has ended since somebody looked.
  is_news integer not null default 0,
  -- Why it is to be cancelled, if nobody waits for it any more.
  orphaned text,
  primary key (run_id, step, task_index, attempt, position),
  constraint kind_is_known check (kind in ('run', 'job')),
  constraint news_of_an_end check (is_news = 0 or status is not null)
) strict, without rowid;

create index pgflow_awaited_child on pgflow_awaited (child, kind);
create index pgflow_awaited_news on pgflow_awaited (is_news) where is_news = 1;
create index pgflow_awaited_orphans on pgflow_awaited (kind) where orphaned is not null;

-- Whose hook a token is: announced ones for as long as the run is there, others while somebody waits.
create table pgflow_hooks (
  token text primary key,
  run_id blob not null,
  step text not null,
  task_index integer not null
) strict, without rowid;

create index pgflow_hooks_task on pgflow_hooks (run_id, step, task_index);

-- What was sent: once for each target and resume id.
create table pgflow_signals (
  id integer primary key autoincrement,
  target text not null,
  resume_id text not null,
  -- The run that it is of, if that is known.
  run_id blob,
  -- While nobody has it: what it says, and until when it is kept.
  payload text,
  expires_at integer,
  unique (target, resume_id),
  constraint kept_until check ((payload is null) = (expires_at is null))
) strict;

create index pgflow_signals_run on pgflow_signals (run_id) where run_id is not null;
create index pgflow_signals_target on pgflow_signals (target, id) where expires_at is not null;
create index pgflow_signals_kept on pgflow_signals (expires_at) where expires_at is not null;
