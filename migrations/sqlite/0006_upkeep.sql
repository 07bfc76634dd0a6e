-- What people who look after the file want to know.

-- JSON Schema of what runs of a version are given.
alter table pgflow_flows add column input_schema text;

-- Who works, and who did.
create table pgflow_workers (
  id blob primary key,
  host text,
  pid integer not null,
  -- Slugs of the versions it serves, as JSON.
  queues text not null,
  slots integer not null,
  started_at integer not null,
  seen_at integer not null,
  stopped_at integer,
  constraint id_is_uuid check (length(id) = 16)
) strict, without rowid;
