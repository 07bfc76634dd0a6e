-- Why a task waits that was given back for a reason, apart from what its attempts failed with. It counts while the
-- attempt that was given back is the task's last.

alter table pgflow_tasks add column yielded_attempt integer;
alter table pgflow_tasks add column yield_reason text;
