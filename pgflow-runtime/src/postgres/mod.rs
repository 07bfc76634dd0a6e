//! Flows in Postgres.

mod backend;
mod batch;
mod claim;
mod connections;
mod engine;
mod error;
mod events;
mod flows;
mod heartbeat;
mod jitter;
mod list;
mod migrate;
mod migrate_flows;
mod open;
mod options;
mod place;
mod probe;
mod routes;
mod runs;
mod settle;
mod shared;
mod start;
mod start_many;
mod transaction;
mod unknown;
mod unstorable;
mod versions;
mod wake;
mod workers;

pub use migrate::{
    Core, EmitError, Format, MigrateError, Pending, Pgmq, PgmqSource, Problem, Report,
    install_pgmq, migrate,
};
pub use migrate_flows::{MigrateFlowsError, migrate_flows};
pub use open::Postgres;
pub use options::{Durability, Pooling, PostgresOptions};
pub use versions::{FlowVersion, VersionError, Versions, versions};
