//! Completing and failing tasks.

mod batch_complete;
mod batch_fail;
mod batch_mixed;
mod complete_task;
mod empty_map;
mod ended;
mod excess;
mod exhausted;
mod exhausted_skip;
mod fail_task;
mod failed_run;
mod fence;
mod join;
mod late_callback;
mod map;
mod outcome_table;
mod part_of_map;
mod release;
mod release_unknown;
mod retry_delay;
mod type_violation;
mod type_violation_not;
mod verdicts;
mod wide_map_locks;
mod yielding;
