//! What only MySQL and MariaDB have to prove.

mod frozen;
mod held;
mod hints;
mod inside;
mod locks;
mod migrating;
mod opening;
mod rings;
mod statements;
mod steps;

#[path = "../../../support/parts/holding.rs"]
mod holding;
