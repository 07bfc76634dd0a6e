-- Who works: instances write themselves here with plain SQL.

create table pgflow.workers (
  worker_id uuid not null,
  queue_name text not null,
  function_name text not null,
  started_at timestamptz not null default now(),
  deprecated_at timestamptz,
  stopped_at timestamptz,
  last_heartbeat_at timestamptz not null default now(),
  constraint workers_pkey primary key (worker_id)
);
create index workers_by_queue on pgflow.workers (queue_name);

create table pgflow.worker_functions (
  function_name text not null,
  enabled boolean not null default true,
  debounce interval not null default interval '6 seconds',
  last_invoked_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint worker_functions_pkey primary key (function_name),
  constraint worker_functions_debounce_check check (debounce >= interval '1 second')
);
