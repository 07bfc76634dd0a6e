-- How large the outputs of a map may be together, and those of a run's leaves: what one JSON value holds, and a
-- little less for the names in it.
alter table pgflow.limits
  add column max_output_bytes int not null default 256000000,
  add constraint max_output_bytes_is_sane check (max_output_bytes between 1048576 and 256000000);

-- Functions that get other parameters or results than they had.
drop function if exists pgflow._count_down_steps(uuid[], text[]);
