//! Conditions, skips and the functions that move a run on.

mod cascade;
mod conditions;
mod conditions_fail;
mod force_skip;
mod maybe_complete;
mod start_ready;
mod taskless;
