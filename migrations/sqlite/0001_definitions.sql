-- Versions of flows. The tables' names begin with `pgflow_` because the file may be the application's own.

create table pgflow_flows (
  id integer primary key,
  -- Its own name, which is also that of its queue.
  slug text not null unique,
  -- The name for all versions: what runs are started by.
  name text not null,
  version integer not null,
  -- Steps and options as JSON; the steps' positions in it are what other tables refer to.
  shape text not null,
  created_at integer not null,
  constraint version_is_positive check (version > 0),
  unique (name, version)
) strict;

-- Counts changes of the table above, so that a process knows when to read it again.
create table pgflow_definitions (
  id integer primary key check (id = 1),
  changes integer not null
) strict;

insert into pgflow_definitions (id, changes) values (1, 0);
