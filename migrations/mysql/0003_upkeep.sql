-- What people who look after the database want to know.

-- JSON Schema of what runs of a version are given.
alter table pgflow_flows add column input_schema longtext;

-- Who works, and who did.
create table pgflow_workers (
  id binary(16) not null,
  host varchar(191),
  pid int unsigned not null,
  -- Slugs of the versions it serves, as JSON.
  queues longtext not null,
  slots int unsigned not null,
  started_at bigint not null,
  seen_at bigint not null,
  stopped_at bigint,
  primary key (id),
  key pgflow_workers_seen (seen_at)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;
