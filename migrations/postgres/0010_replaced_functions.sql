-- Functions that get other parameters or results than they had.

drop function if exists pgflow.prune_data_older_than(interval, int);
drop function if exists pgflow._lock_to_settle(uuid[], text[], int[]);
drop function if exists pgflow._lock_steps_to_fail(uuid[], text[], int[], int[], boolean[]);
drop function if exists pgflow._stalled_tasks(text, int);
drop function if exists pgflow._start_messages(text, bigint[], jsonb[], uuid);
