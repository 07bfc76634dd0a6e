//! The Postgres backend on a real server.

mod connections;
mod errors;
mod flows;
mod hints;
mod large;
mod pooled;
mod pooled_worker;
mod runs;
mod settling;
mod starts;
mod transactions;
