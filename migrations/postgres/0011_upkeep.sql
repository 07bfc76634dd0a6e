-- What people who look after the database want to know.

-- JSON Schema of what runs of a version are given, as programs that have its code give it.
alter table pgflow.flows add column input_schema jsonb;

-- What a worker says about itself when it signs on.
alter table pgflow.workers add column host text, add column pid int, add column slots int;

-- Nothing looks for workers by what they serve, and a list of many names is too long for an index.
drop index if exists pgflow.workers_by_queue;

-- It has more parameters now.
drop function if exists pgflow.list_runs(text[], text[], timestamptz, uuid, int);
