-- Who holds units of a resource among tasks: whoever has this attempt at it. Without the attempt, nothing is held.
create table pgflow_task_holds (
  resource varbinary(128) not null,
  run binary(16) not null,
  -- The step's number.
  step smallint unsigned not null,
  task_index int unsigned not null,
  attempt int unsigned not null,
  units int unsigned not null,
  fence bigint not null,
  primary key (resource, run, step, task_index)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;
