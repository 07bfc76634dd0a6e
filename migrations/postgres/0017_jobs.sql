-- Jobs: work that decides its own way. A job carries what it needs next; see docs/jobs.md.
--
-- The state is stored wherever a claim has to find it, and each state that somebody looks for has an
-- index of its own, so that no claim wades through what it cannot take. Ids, needs and keys compare by bytes.

create sequence pgflow.jobs_seq;

-- Those that are not over.
create table pgflow.jobs (
  -- The place in line, for life.
  seq bigint not null default nextval('pgflow.jobs_seq'),
  created_at timestamptz not null default clock_timestamp(),
  -- Not before this moment; null is at once.
  wake_at timestamptz,
  -- After this it is not leased any more; null is never.
  expires_at timestamptz,
  lease_until timestamptz,
  -- When to see whether the lease has lapsed. Never after lease_until, and indexed: a heartbeat moves
  -- lease_until only, so that its update stays on its page.
  look_at timestamptz,
  token uuid,
  -- Of the newest lease that was settled: the same settle again is no news.
  settled uuid,
  priority int not null default 0,
  -- Open dependencies: rows of job_edges.
  waits int not null default 0,
  -- Claims, those that do not count towards max_attempts, failed attempts, leases that ran out in all and in a row.
  attempts int not null default 0,
  forgiven int not null default 0,
  failures int not null default 0,
  lapses int not null default 0,
  streak int not null default 0,
  max_attempts int,
  state text collate "C" not null,
  id text collate "C" not null,
  need text collate "C" not null,
  key text collate "C",
  worker text,
  payload jsonb not null,
  last_error text,
  cancel_at timestamptz,
  cancel_by text,
  cancel_reason text,
  constraint jobs_pkey primary key (id),
  constraint jobs_state_is_valid check (state in (
    'ready', 'sleeping', 'waiting', 'parked', 'leased', 'concern', 'expired', 'crashed', 'cancelled')),
  constraint jobs_counters_are_counts check (
    waits >= 0 and attempts >= 0 and forgiven between 0 and attempts and failures >= 0 and lapses >= 0 and streak >= 0 and streak <= lapses),
  constraint jobs_max_attempts_is_positive check (max_attempts > 0),
  constraint jobs_waiting_has_waits check (state <> 'waiting' or waits > 0),
  constraint jobs_leasable_has_no_waits check (state not in ('ready', 'sleeping', 'parked', 'leased') or waits = 0),
  constraint jobs_leased_has_a_lease check (
    (state = 'leased') = (token is not null) and num_nulls(token, lease_until, look_at) in (0, 3)),
  constraint jobs_only_sleepers_sleep check (state <> 'sleeping' or wake_at is not null),
  constraint jobs_parked_has_a_key check (state <> 'parked' or key is not null),
  constraint jobs_cancelled_was_asked_for check (
    (cancel_at is null) = (cancel_by is null) and (state <> 'cancelled' or cancel_at is not null)
    and (cancel_at is null or state in ('leased', 'cancelled')) and (cancel_reason is null or cancel_at is not null))
) with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.2
);
alter sequence pgflow.jobs_seq owned by pgflow.jobs.seq;

-- What a claim reads, in its order.
create index jobs_ready on pgflow.jobs (need, priority desc, seq) where state = 'ready';
-- Who comes next when a key is free.
create index jobs_parked on pgflow.jobs (key, need, priority desc, seq) where state = 'parked';
create index jobs_heads on pgflow.jobs (key, need) where state = 'ready' and key is not null;
create index jobs_sleeping on pgflow.jobs (wake_at) where state = 'sleeping';
create index jobs_leased on pgflow.jobs (look_at) where state = 'leased';
create index jobs_expiring on pgflow.jobs (expires_at)
  where expires_at is not null and state in ('ready', 'sleeping', 'waiting', 'parked', 'concern');
-- What the sweep is to end.
create index jobs_ending on pgflow.jobs (seq) where state in ('expired', 'crashed', 'cancelled');
create index jobs_in_concern on pgflow.jobs (seq) where state = 'concern';

-- Who waits for whom. A dependency may be named more than once, and is counted as often.
create table pgflow.job_edges (
  waiter text collate "C" not null,
  place int not null,
  kind text collate "C" not null default 'job',
  dependency text collate "C" not null,
  policy text collate "C" not null default 'release',
  constraint job_edges_pkey primary key (waiter, place),
  constraint job_edges_kind_is_valid check (kind in ('job', 'run')),
  constraint job_edges_policy_is_valid check (policy in ('release', 'fail', 'cancel'))
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index job_edges_by_dependency on pgflow.job_edges (dependency);

-- What ended in a transaction that could not tell everybody who waits for it, because somebody held them, or because it was
-- stricter than read committed and could not see them: the sweep looks again.
create table pgflow.job_wakes (
  kind text collate "C" not null,
  dependency text collate "C" not null,
  outcome text collate "C" not null,
  constraint job_wakes_pkey primary key (dependency, kind)
);

-- A row per key that a live job has. While one of them is leased it is the holder, and all others that could be
-- leased are parked; otherwise the best of each need is ready. Whoever changes that holds this row's lock.
create table pgflow.job_keys (
  key text collate "C" not null,
  -- Live jobs with this key.
  jobs int not null,
  holder text collate "C",
  -- Somebody held a job that was to be parked or to become ready: the next claim or sweep looks again.
  look boolean not null default false,
  constraint job_keys_pkey primary key (key)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index job_keys_to_look_at on pgflow.job_keys (key) where look;

-- Those that are over. An id is never used twice while it is here.
create table pgflow.job_archive (
  archived_at timestamptz not null default clock_timestamp(),
  seq bigint not null,
  created_at timestamptz not null,
  wake_at timestamptz,
  expires_at timestamptz,
  -- Of the lease that it ended with, and of the last one that was settled.
  token uuid,
  settled uuid,
  priority int not null,
  attempts int not null,
  forgiven int not null default 0,
  failures int not null,
  lapses int not null,
  streak int not null,
  max_attempts int,
  outcome text collate "C" not null,
  id text collate "C" not null,
  need text collate "C" not null,
  key text collate "C",
  worker text,
  payload jsonb not null,
  output jsonb,
  error text,
  -- What it still waited for.
  waited_for text[],
  cancel_at timestamptz,
  cancel_by text,
  cancel_reason text,
  constraint job_archive_pkey primary key (id),
  constraint job_archive_outcome_is_valid check (outcome in ('done', 'failed', 'cancelled', 'expired', 'crashed')),
  constraint job_archive_output_is_of_done check (output is null or outcome = 'done'),
  constraint job_archive_counters_are_counts check (attempts >= 0 and failures >= 0 and lapses >= 0 and streak >= 0),
  constraint job_archive_cancelled_says_by_whom check ((cancel_at is null) = (cancel_by is null) and
    (outcome <> 'cancelled' or cancel_at is not null) and (cancel_reason is null or cancel_at is not null))
);
create index job_archive_by_age on pgflow.job_archive (archived_at);
-- What redrive looks for.
create index job_archive_dead on pgflow.job_archive (need, seq) where outcome in ('failed', 'crashed');

-- What happened to jobs: one row per mutation, appended in its transaction. Numbered by the sequence of places: the row of a
-- submission has the job's, and leaves its id and moment to the job; job_events has both.
create table pgflow.job_trace (
  trace_id bigint not null default nextval('pgflow.jobs_seq'),
  at timestamptz default clock_timestamp(),
  token uuid,
  kind text collate "C" not null,
  job text collate "C",
  -- The need at that moment.
  need text collate "C",
  worker text,
  -- What the columns do not say.
  detail jsonb
);
-- The row of a submission is found by its number: this keeps submissions small.
create index job_trace_by_job on pgflow.job_trace (job) where job is not null;
create index job_trace_by_number on pgflow.job_trace using brin (trace_id) with (pages_per_range = 8);

create view pgflow.job_events as
select t.trace_id, coalesce(t.at, j.created_at, a.created_at) as at, t.token, t.kind, coalesce(t.job, j.id, a.id) as job,
       t.need, t.worker, t.detail
from pgflow.job_trace t
left join pgflow.jobs j on t.job is null and j.seq = t.trace_id
left join pgflow.job_archive a on t.job is null and a.seq = t.trace_id;

-- Whether a job waits for a run, or did. Runs that nobody waits for, which are most, end without a look at jobs.
alter table pgflow.runs add column awaited boolean;

create table pgflow.job_settings (
  only_row boolean not null default true,
  trace boolean not null default true,
  notify boolean not null default false,
  crash_threshold int not null default 5,
  constraint job_settings_pkey primary key (only_row),
  constraint job_settings_has_one_row check (only_row),
  constraint crash_threshold_is_positive check (crash_threshold > 0)
);
insert into pgflow.job_settings default values;

-- Functions that get other parameters or results than they had.
drop function if exists pgflow._grant_functions(text, text[]);
