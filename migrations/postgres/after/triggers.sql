-- Triggers on tables that other programs write.

create or replace trigger workers_forget_deleted
  after delete on pgflow.workers
  referencing old table as gone
  for each statement execute function pgflow._forget_workers();

create or replace trigger runs_release_jobs
  after update on pgflow.runs
  for each row when (new.awaited and old.status = 'started' and new.status <> 'started')
  execute function pgflow._release_waiters_of_run();

create or replace trigger runs_release_jobs_if_deleted
  after delete on pgflow.runs
  for each row when (old.awaited and old.status = 'started')
  execute function pgflow._release_waiters_of_run();

create or replace trigger runs_end_waits
  after update on pgflow.runs
  for each row when ((new.has_waits or new.is_child) and old.status = 'started' and new.status <> 'started')
  execute function pgflow._run_is_over();

create or replace trigger runs_end_waits_if_deleted
  after delete on pgflow.runs
  for each row when (old.has_waits or old.is_child)
  execute function pgflow._run_is_over();

create or replace trigger jobs_end_waits
  after delete on pgflow.jobs
  for each row when (old.is_child)
  execute function pgflow._job_is_over();

create or replace trigger jobs_are_changed
  instead of insert or update or delete on pgwf.jobs
  for each row execute function pgwf._change_jobs();

create or replace trigger jobs_archive_is_changed
  instead of insert or update or delete on pgwf.jobs_archive
  for each row execute function pgwf._change_history();

create or replace trigger jobs_trace_is_changed
  instead of insert or update or delete on pgwf.jobs_trace
  for each row execute function pgwf._change_history();
