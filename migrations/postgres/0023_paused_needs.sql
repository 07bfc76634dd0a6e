-- Needs whose jobs are not leased, because somebody said so: pause_needs.
create table pgflow.paused_needs (
  need text not null,
  paused_at timestamptz not null default clock_timestamp(),
  paused_by text not null,
  constraint paused_needs_pkey primary key (need)
);
