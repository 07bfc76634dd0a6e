-- Needs whose jobs are not leased, because somebody said so. Moments are microseconds since 1970. Names are bytes, so that no collation
-- takes two of them for one.
create table pgflow_paused_needs (
  need varbinary(512) not null,
  paused_at bigint not null,
  paused_by varbinary(512) not null,
  primary key (need)
) engine = InnoDB row_format = dynamic default character set utf8mb4 collate utf8mb4_bin;
