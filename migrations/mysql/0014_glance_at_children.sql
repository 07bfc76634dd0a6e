-- Whether a child goes on or has failed is asked whenever some have ended, without looking at all of them.
create index pgflow_awaited_status on pgflow_awaited (run, step, task_index, attempt, status);
