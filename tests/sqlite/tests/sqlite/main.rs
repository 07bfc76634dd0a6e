//! What only SQLite has to prove.

mod flows;
mod held;
mod hints;
mod opening;
mod processes;
mod start_in;

#[path = "../../../support/parts/holding.rs"]
mod holding;
