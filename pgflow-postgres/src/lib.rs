//! Flows in Postgres.

#![forbid(unsafe_code)]

mod allowance;

mod address;
mod batch;
mod claim;
mod connections;
mod contract;
mod ended;
mod engine;
mod error;
mod events;
mod flows;
mod flows_of_runs;
mod heartbeat;
mod job_upkeep;
mod jobs;
mod left_out;
mod list;
mod migrate;
mod migrate_flows;
mod moment;
mod open;
mod options;
mod payloads;
mod pipelines;
mod probe;
mod problem;
mod prune;
mod reach;
mod read;
mod runs;
mod schedules;
mod settle;
mod shared;
mod start;
mod start_many;
mod streams;
mod transaction;
mod unknown;
mod unstorable;
mod upkeep;
mod url;
mod waits;
mod wake;
mod workers;

pub use error::{is_read_only, is_server_wide};
pub use jobs::submit_in;
pub use migrate::{
    Core, EmitError, Format, MigrateError, Pending, Pgmq, PgmqSource, Problem, Report,
    install_pgmq, migrate,
};
pub use migrate_flows::{MigrateFlowsError, migrate_flows};
pub use open::Postgres;
pub use options::{Durability, Pooling, PostgresOptions};
pub use pipelines::push_in;
pub use start::start_in;
pub use transaction::PostgresTx;
pub use waits::signal_in;
