//! The SQL core, rule by rule, on a real Postgres.

mod checker;
mod clients;
mod concurrency;
mod definition;
mod events;
mod harness;
mod jobs;
mod limits;
mod maintenance;
mod mutants;
mod pgwf;
mod pipelines;
mod random_flows;
mod schedules;
mod schema;
mod security;
mod settling;
mod shapes;
mod skipping;
mod starting;
mod streams;
mod waits;
mod work;
mod workers;
