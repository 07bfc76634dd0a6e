-- Waits: attempts that end before what they are for has happened; see docs/waits.md. Tokens, ids and words compare by bytes.

-- What fits the constraint from before fits this one, so no row is looked at.
alter table pgflow.step_tasks drop constraint valid_status;
alter table pgflow.step_tasks add constraint valid_status
  check (status in ('queued', 'started', 'waiting', 'completed', 'failed')) not valid;

-- Runs that are in these tables, and runs and jobs that somebody waits for: all others, which are most, cost nothing.
alter table pgflow.runs add column has_waits boolean, add column is_child boolean;
alter table pgflow.jobs add column is_child boolean;

-- A row per task that waits.
create table pgflow.waits (
  run_id uuid not null,
  since timestamptz not null default clock_timestamp(),
  -- The deadline, if there is one; for a sleep, when it ends.
  until timestamptz,
  task_index int not null,
  -- The one that ended with it.
  attempt int not null,
  -- Children whose end it was not told of yet.
  open_children int not null default 0,
  -- A child did not end well.
  has_failed boolean not null default false,
  -- Of children: how they end is the output; they go on when nobody waits any more; the output is an array of theirs.
  outcomes boolean not null default false,
  is_detached boolean not null default false,
  each boolean not null default false,
  kind text collate "C" not null,
  flow_slug text not null,
  step_slug text not null,
  token text collate "C",
  -- JSON Schema that the payload of a signal has to fit.
  schema jsonb,
  constraint waits_pkey primary key (run_id, step_slug, task_index),
  constraint waits_token_is_unique unique (token),
  constraint waits_kind_is_valid check (kind in ('hook', 'sleep', 'runs', 'jobs')),
  constraint waits_token_is_of_a_hook check ((kind = 'hook') = (token is not null)),
  constraint waits_sleep_has_an_end check (kind <> 'sleep' or until is not null),
  constraint waits_children_are_counted check (open_children >= 0 and (open_children = 0 or kind in ('runs', 'jobs'))),
  constraint waits_schema_is_of_a_hook check (schema is null or kind = 'hook'),
  constraint waits_options_are_of_children check (kind in ('runs', 'jobs') or not (outcomes or is_detached or each or has_failed))
);
create index waits_by_until on pgflow.waits (until) where until is not null;
create index waits_by_age on pgflow.waits (since, run_id, step_slug, task_index);
create index waits_by_run on pgflow.waits (run_id, since, step_slug, task_index);
create index waits_by_flow on pgflow.waits (flow_slug, run_id);

-- Runs and jobs that waits are for, or were.
create table pgflow.awaited (
  run_id uuid not null,
  task_index int not null,
  attempt int not null,
  place int not null,
  kind text collate "C" not null,
  step_slug text not null,
  child text collate "C" not null,
  -- How it ended, once the wait was told, so that it may be pruned before its siblings have ended.
  ended text collate "C",
  output jsonb,
  error text,
  -- Nobody waits for it any more: it is to be cancelled, for this reason.
  abandoned text,
  constraint awaited_pkey primary key (run_id, step_slug, task_index, attempt, place),
  constraint awaited_kind_is_valid check (kind in ('run', 'job')),
  constraint awaited_ended_is_valid check (ended in ('completed', 'failed', 'cancelled', 'expired', 'crashed', 'deleted')),
  constraint awaited_output_is_of_completed check (output is null or coalesce(ended = 'completed', false)),
  constraint awaited_error_is_of_ended check (error is null or (ended is not null and ended <> 'completed')),
  constraint awaited_abandoned_has_not_ended check (abandoned is null or ended is null)
);
create index awaited_by_child on pgflow.awaited (child);
create index awaited_abandoned on pgflow.awaited (run_id) where abandoned is not null;

-- Children that have ended and whose waits were not told yet. Who ends a child locks nothing of those who wait for it.
create table pgflow.wait_ends (
  kind text collate "C" not null,
  child text collate "C" not null,
  constraint wait_ends_pkey primary key (child, kind),
  constraint wait_ends_kind_is_valid check (kind in ('run', 'job'))
);

-- Tokens that were announced, one per task for all its attempts.
create table pgflow.hooks (
  run_id uuid not null,
  task_index int not null,
  step_slug text not null,
  token text collate "C" not null,
  constraint hooks_pkey primary key (token),
  constraint hooks_task_is_unique unique (run_id, step_slug, task_index),
  constraint hooks_token_is_announced check (starts_with(token, 'hk_'))
);

-- What was sent: kept until somebody waits for it, or delivered. A delivered one stays for its resume id.
create table pgflow.signals (
  id bigint generated always as identity,
  sent_at timestamptz not null default clock_timestamp(),
  -- Of one that is kept.
  expires_at timestamptz,
  -- The task that it was sent to, or that got it.
  run_id uuid,
  task_index int,
  step_slug text,
  -- One that somebody chose. Those that were announced stand for their tasks.
  token text collate "C",
  resume_id text collate "C",
  -- Of one that is kept.
  payload jsonb,
  constraint signals_pkey primary key (id),
  constraint signals_go_somewhere check (
    num_nulls(run_id, step_slug, task_index) in (0, 3) and num_nonnulls(run_id, token) > 0),
  constraint signals_kept_or_delivered check (
    (payload is null) = (expires_at is null) and (payload is not null or (run_id is not null and resume_id is not null))
    and (payload is null or num_nonnulls(run_id, token) = 1))
);
create unique index signals_once_per_token on pgflow.signals (token, resume_id) where token is not null and resume_id is not null;
create unique index signals_once_per_task on pgflow.signals (run_id, step_slug, task_index, resume_id)
  where token is null and resume_id is not null;
create index signals_kept_for_token on pgflow.signals (token, id) where token is not null and payload is not null;
create index signals_by_task on pgflow.signals (run_id, step_slug, task_index, id) where run_id is not null;
create index signals_by_expiry on pgflow.signals (expires_at) where expires_at is not null;

-- Functions that get other parameters or results than they had.
drop function if exists pgflow._submit_forks(jsonb, text);
