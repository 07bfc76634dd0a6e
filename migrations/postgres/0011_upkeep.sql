-- What people who look after the database want to know.

-- JSON Schema of what runs of a version are given, as programs that have its code give it.
alter table pgflow.flows add column input_schema jsonb;

-- What a worker says about itself when it signs on.
alter table pgflow.workers add column host text, add column pid int, add column slots int;

-- It has more parameters now.
drop function if exists pgflow.list_runs(text[], text[], timestamptz, uuid, int);
