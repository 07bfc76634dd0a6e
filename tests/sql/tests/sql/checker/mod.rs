//! `pgflow.check()` finds what is broken by hand.

mod bench;
mod breaks_events;
mod breaks_jobs;
mod breaks_messages;
mod breaks_pipelines;
mod breaks_runs;
mod breaks_schedules;
mod breaks_steps;
mod breaks_streams;
mod breaks_tasks;
mod breaks_waits;
mod coverage;
mod every_column;
mod job_columns;
mod more_columns;
mod unseen;
mod wait_columns;
