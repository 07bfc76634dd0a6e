-- What happened in which order: each run's transitions, numbered densely from 1.
--
-- One row holds all events that a run got in one transaction, as words ('step:started fetch'),
-- because events are the largest part of what a short run writes. Readers use the view
-- pgflow.events, which spells them out with their payloads.

create table pgflow.event_log (
  run_id uuid not null,
  -- The number of the last event in `events`.
  last_seq int not null,
  events text[] not null,
  -- What the payloads need besides the state tables; as long as `events`, if there.
  details jsonb[],
  -- Under the lock of the run, so that it never goes back from one event to the next.
  at timestamptz not null default clock_timestamp(),
  constraint event_log_pkey primary key (run_id, last_seq),
  constraint event_log_is_not_empty check (cardinality(events) > 0)
);
