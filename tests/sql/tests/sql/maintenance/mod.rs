//! Cancelling, retrying, listing, leases, stalled tasks, pruning.

mod cancel_run;
mod heartbeat;
mod list_runs;
mod many_flows;
mod progress;
mod prune;
mod prune_keeps;
mod reading;
mod requeue;
mod retry_run;
mod retry_run_steps;
mod stalled_for_good;
mod sweep_and_claim;
mod upkeep;
