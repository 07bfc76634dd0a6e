-- Who holds units of a resource among tasks: whoever has this attempt at it. Without the attempt, nothing is held.
create table pgflow_task_holds (
  resource text not null,
  run blob not null,
  -- The step's number.
  step integer not null,
  task_index integer not null,
  attempt integer not null,
  units integer not null check (units > 0),
  fence integer not null,
  primary key (resource, run, step, task_index)
) strict, without rowid;
