//! What only SQLite has to prove.

mod flows;
mod hints;
mod opening;
mod processes;
mod start_in;
