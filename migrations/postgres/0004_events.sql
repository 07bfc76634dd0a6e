-- What a reader follows: each run's transitions, dense from 1, in the order they happened.

create table pgflow.events (
  run_id uuid not null,
  seq int not null,
  event_type text not null,
  step_slug text,
  payload jsonb not null,
  at timestamptz not null default now(),
  constraint events_pkey primary key (run_id, seq)
);
