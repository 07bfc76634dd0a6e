//! Flows in Postgres.

mod migrate;

pub use migrate::{
    Core, EmitError, Format, MigrateError, Pending, Pgmq, PgmqSource, Problem, Report,
    install_pgmq, migrate,
};
