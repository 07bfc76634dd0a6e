-- Needs whose jobs are not leased, because somebody said so. Moments are microseconds since 1970.
create table pgflow_paused_needs (
  need text primary key,
  paused_at integer not null,
  paused_by text not null
) strict, without rowid;
