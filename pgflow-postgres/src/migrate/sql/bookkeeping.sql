-- What was installed, and when.
revoke all on schema pgflow from public;

create table if not exists pgflow.migrations (
  name text primary key,
  version int unique,
  checksum text not null,
  library text not null,
  applied_at timestamptz not null default now()
);

create table if not exists pgflow.migration_functions (
  signature text primary key,
  fingerprint text not null
);

-- Users' indexes are in it only while a migration runs.
create table if not exists pgflow.migration_relations (
  object text primary key,
  parent text,
  definition text not null,
  is_users boolean not null default false
);
