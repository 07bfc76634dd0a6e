//! `pgflow.check()` finds what is broken by hand.

mod bench;
mod breaks_events;
mod breaks_messages;
mod breaks_runs;
mod breaks_steps;
mod breaks_tasks;
mod coverage;
