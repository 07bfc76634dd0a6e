//! Defining flows and steps.

mod add_step;
mod add_step_refusals;
mod create_flow;
mod delete_flow;
mod slug;
mod topology;
