-- Versions of flows. The tables' names begin with `pgflow_` because the database may be the application's own.
-- Each statement ends with a semicolon at the end of a line, is applied on its own and can be applied again.

create table pgflow_flows (
  id bigint not null auto_increment,
  -- Its own name, which is also that of its queue.
  slug varchar(191) not null,
  -- The name for all versions: what runs are started by.
  name varchar(191) not null,
  version int unsigned not null,
  -- Steps and options as JSON; the steps' positions in it are what other tables refer to.
  shape longtext not null,
  -- What it takes and puts out, as a hash: programs for older versions that are alike can start this one.
  interface varchar(191),
  created_at bigint not null,
  primary key (id),
  unique key pgflow_flows_slug (slug),
  unique key pgflow_flows_version (name, version),
  constraint pgflow_flows_version_is_positive check (version > 0)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- Counts changes of the table above, so that a process knows when to read it again.
create table pgflow_definitions (
  id tinyint not null,
  changes bigint not null,
  primary key (id)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

insert into pgflow_definitions (id, changes) values (1, 0);

-- Counts up when a process has written something that others may wait for: they look at this one row.
create table pgflow_news (
  id tinyint not null,
  rings bigint not null,
  primary key (id)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

insert into pgflow_news (id, rings) values (1, 0);

-- Migrations of an application's flows that its own program has applied.
create table pgflow_flow_migrations (
  package varchar(191) not null,
  name varchar(191) not null,
  checksum varchar(191) not null,
  applied_at bigint not null,
  primary key (package, name)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;
