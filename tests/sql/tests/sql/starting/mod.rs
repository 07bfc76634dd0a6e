//! Starting runs.

mod input;
mod message;
mod pipeline;
mod root_map;
mod run_id;
mod run_output;
mod start_delay;
mod start_flow;
mod start_run;
mod transaction;
mod with_states;
