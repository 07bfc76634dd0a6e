//! Defining flows and steps.

mod add_step;
mod add_step_refusals;
mod create_flow;
mod delete_flow;
mod expect_steps;
mod live_runs;
mod options;
mod slug;
mod topology;
mod versions;
