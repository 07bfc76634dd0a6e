-- Since when the trace is on again, null if it always was: what happened before is not all in it.
alter table pgflow.job_settings add column traced_since timestamptz;

-- Functions that get other parameters than they had.
drop function if exists pgflow._lock_dependencies(text[], text[], text[], text[], int[]);
drop function if exists pgflow._lock_jobs(text[], text);
