//! What only MySQL and MariaDB have to prove.

mod held;
mod hints;
mod locks;
mod migrating;
mod opening;
mod rings;
mod statements;

#[path = "../../../support/parts/holding.rs"]
mod holding;
