-- What happened in each run. Inputs and outputs are not repeated here: they do not change any more
-- once there is an event about them.

create table pgflow_events (
  run integer not null,
  seq integer not null,
  at integer not null,
  -- A JSON object; `step` in it is the step's position in the flow.
  entry text not null,
  primary key (run, seq)
) strict, without rowid;
