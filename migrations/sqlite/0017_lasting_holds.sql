-- How long the units of an attempt stay held after its step or run has ended, in microseconds, when its worker is not heard of: as long as
-- a lease may last. Its worker gives them up when it says that the attempt is over.
alter table pgflow_task_holds add column lasts integer not null default 0;

create index pgflow_task_holds_task on pgflow_task_holds (run, step, task_index);
