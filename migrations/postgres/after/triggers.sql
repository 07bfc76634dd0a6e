-- Triggers on tables that other programs write.

create or replace trigger workers_forget_deleted
  after delete on pgflow.workers
  referencing old table as gone
  for each statement execute function pgflow._forget_workers();
