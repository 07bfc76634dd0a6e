//! A shop: its orders are a flow, and its migrations are written by `cargo build`.

pub mod orders;

use pgflow::definition::FlowMigrations;

/// What a program of the shop applies when it starts.
pub const MIGRATIONS: FlowMigrations = pgflow::migrations!();
