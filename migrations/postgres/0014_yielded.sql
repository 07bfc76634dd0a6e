-- Why a task waits that was handed back for a reason (yield_tasks), apart from what its attempts failed with. It counts
-- while the attempt that was handed back is the task's last, so that nothing has to clear it.
alter table pgflow.step_tasks
  add column yielded_attempt int,
  add column yield_reason text,
  add constraint yield_has_a_reason check ((yielded_attempt is null) = (yield_reason is null));

-- Functions that are gone, or get other parameters or results than they had.
drop function if exists pgflow._held_back_words();
drop function if exists pgflow._step_work(uuid, text, text, int);
drop function if exists pgflow.get_run_steps(uuid, boolean);
drop function if exists pgflow.list_tasks(uuid, text, text[], int, int);
