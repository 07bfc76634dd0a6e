-- What happened: runs, the state of each step of a run, and their tasks.
--
-- Rows are updated in place a few times in quick succession. Pages leave room for that
-- (fillfactor), and no index holds a column that changes, so those updates stay on their page.
-- Columns stand in an order without gaps for alignment, those that change together side by side: an
-- update logs only what lies between the first and the last byte that it changed.
-- Only the core writes step_states and step_tasks; they have no foreign keys, because checking
-- them would lock the run's row once per task. pgflow.check() proves what they would have.

create table pgflow.runs (
  run_id uuid not null default gen_random_uuid(),
  started_at timestamptz not null default now(),
  completed_at timestamptz,
  failed_at timestamptz,
  cancelled_at timestamptz,
  remaining_steps int not null default 0,
  status text not null default 'started',
  output jsonb,
  cancel_reason text,
  record_events boolean not null default true,
  flow_slug text not null,
  input jsonb not null,
  constraint runs_pkey primary key (run_id),
  constraint runs_flow_slug_fkey foreign key (flow_slug) references pgflow.flows (flow_slug),
  constraint status_is_valid check (status in ('started', 'completed', 'failed', 'cancelled')),
  constraint runs_remaining_steps_check check (remaining_steps >= 0),
  constraint completed_at_or_failed_at check (num_nonnulls(completed_at, failed_at, cancelled_at) <= 1),
  constraint completed_at_is_after_started_at check (completed_at >= started_at),
  constraint failed_at_is_after_started_at check (failed_at >= started_at),
  constraint cancelled_at_is_after_started_at check (cancelled_at >= started_at)
) with (fillfactor = 50);
create index runs_by_flow on pgflow.runs (flow_slug, started_at);

create table pgflow.step_states (
  run_id uuid not null,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  failed_at timestamptz,
  skipped_at timestamptz,
  remaining_deps int not null default 0,
  initial_tasks int,
  remaining_tasks int,
  status text not null default 'created',
  output jsonb,
  error_message text,
  skip_reason text,
  flow_slug text not null,
  step_slug text not null,
  constraint step_states_pkey primary key (run_id, step_slug),
  constraint status_is_valid check (status in ('created', 'started', 'completed', 'failed', 'skipped')),
  constraint step_states_initial_tasks_check check (initial_tasks is null or initial_tasks >= 0),
  constraint step_states_remaining_tasks_check check (remaining_tasks is null or remaining_tasks >= 0),
  constraint step_states_remaining_deps_check check (remaining_deps >= 0),
  constraint status_and_remaining_tasks_match check (status <> 'completed' or remaining_tasks = 0),
  constraint remaining_tasks_state_consistency check (
    remaining_tasks is null or status not in ('created', 'skipped')
  ),
  constraint initial_tasks_known_when_started check (status <> 'started' or initial_tasks is not null),
  constraint output_only_for_completed_or_null check (output is null or status = 'completed'),
  constraint skip_reason_matches_status check ((status = 'skipped') = (skip_reason is not null)),
  constraint completed_at_or_failed_at_or_skipped_at check (
    num_nonnulls(completed_at, failed_at, skipped_at) <= 1
  ),
  constraint started_at_is_after_created_at check (started_at >= created_at),
  constraint completed_at_is_after_started_at check (completed_at >= started_at),
  constraint failed_at_is_after_started_at check (failed_at >= started_at),
  constraint skipped_at_is_after_created_at check (skipped_at >= created_at)
) with (fillfactor = 35);

create table pgflow.step_tasks (
  run_id uuid not null,
  message_id bigint,
  queued_at timestamptz not null default now(),
  task_index int not null default 0,
  requeued_count int not null default 0,
  -- Attempts that do not count against the task's budget: handed back unused, or before a retry of
  -- the run. attempts_count itself never falls, because it is the fence.
  refunded_count int not null default 0,
  attempts_count int not null default 0,
  started_at timestamptz,
  completed_at timestamptz,
  failed_at timestamptz,
  last_requeued_at timestamptz,
  permanently_stalled_at timestamptz,
  -- Until when a heartbeat has asked for; without one the step's timeout decides.
  lease_until timestamptz,
  last_worker_id uuid,
  status text not null default 'queued',
  output jsonb,
  error_message text,
  -- A map task's element, taken out of the array once for all tasks; dropped on completion.
  input jsonb,
  flow_slug text not null,
  step_slug text not null,
  constraint step_tasks_pkey primary key (run_id, step_slug, task_index),
  constraint valid_status check (status in ('queued', 'started', 'completed', 'failed')),
  constraint attempts_count_nonnegative check (attempts_count >= 0),
  constraint output_valid_only_for_completed check (output is null or status in ('completed', 'failed')),
  constraint completed_at_or_failed_at check (completed_at is null or failed_at is null),
  constraint started_at_is_after_queued_at check (started_at >= queued_at),
  constraint completed_at_is_after_queued_at check (completed_at >= queued_at),
  constraint failed_at_is_after_queued_at check (failed_at >= queued_at),
  constraint completed_at_is_after_started_at check (completed_at >= started_at),
  constraint failed_at_is_after_started_at check (failed_at >= started_at)
) with (fillfactor = 35);
