//! Flows in Postgres.

mod migrate;
mod migrate_flows;
mod versions;

pub use migrate::{
    Core, EmitError, Format, MigrateError, Pending, Pgmq, PgmqSource, Problem, Report,
    install_pgmq, migrate,
};
pub use migrate_flows::{MigrateFlowsError, migrate_flows};
pub use versions::{FlowVersion, VersionError, Versions, versions};
