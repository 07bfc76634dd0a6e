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
