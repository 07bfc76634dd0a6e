-- Who holds units of a resource among tasks: whoever has this attempt at it. Without the attempt, nothing is held.
create table pgflow.task_holds (
  resource text collate "C" not null,
  run_id uuid not null,
  step_slug text not null,
  task_index int not null,
  attempt int not null,
  units int not null,
  -- The number of the grant.
  fence bigint not null,
  constraint task_holds_pkey primary key (resource, run_id, step_slug, task_index),
  constraint task_holds_units_are_some check (units > 0)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
