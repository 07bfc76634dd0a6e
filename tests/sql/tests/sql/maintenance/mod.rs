//! Cancelling, leases, stalled tasks, pruning.

mod cancel_run;
mod heartbeat;
mod prune;
mod prune_keeps;
mod requeue;
mod stalled_for_good;
