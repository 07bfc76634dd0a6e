-- Pipelines: a queue is a need, a message is a job. Here is what claims need besides. Moments are microseconds since 1970. Names are
-- bytes, so that no collation takes two of them for one.

-- Resources, rates, how far fair queues are, and what claims of queues take. The state is JSON: what is decided about it is not decided by the database.
create table pgflow_permits (
  kind varchar(16) not null,
  name varbinary(512) not null,
  state longtext not null,
  primary key (kind, name)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- Who holds units of a resource: whoever has the lease with this token. Without the lease, nothing is held.
create table pgflow_permit_holds (
  resource varbinary(128) not null,
  job bigint not null,
  token varchar(191) not null,
  -- Messages that were claimed together hold together.
  batch varchar(191) not null,
  units int unsigned not null,
  fence bigint not null,
  primary key (resource, job, token),
  key pgflow_permit_holds_token (token)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;

-- What a claim has to know of a message besides its job; most have nothing of that.
create table pgflow_messages (
  job varbinary(128) not null,
  batch_key varbinary(128),
  -- Units by slug, as JSON.
  resources longtext,
  -- It keeps its key waiting until then.
  not_before bigint,
  primary key (job)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;
