-- Migrations of an application's flows that its own program has applied.

create table pgflow_flow_migrations (
  package text not null,
  name text not null,
  checksum text not null,
  applied_at integer not null,
  primary key (package, name)
) strict, without rowid;
