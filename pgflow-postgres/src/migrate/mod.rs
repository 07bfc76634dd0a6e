//! Installing the SQL core, and keeping it up to date.
//!
//! The SQL is in `migrations/postgres`: numbered files (tables, types, roles) are applied once and
//! never change afterwards; `functions` has folders by purpose with one repeatable file per
//! function, applied again when it changes; `after` (grants) is applied again whenever anything changed. A function that goes
//! away or gets other parameters is dropped by a numbered file first.

mod apply;
mod bookkeeping;
mod core;
mod emit;
mod error;
mod file;
mod pgmq;
mod plan;
mod relations;
mod report;
mod session;
mod state;
mod strangers;
mod version;

pub use self::core::Core;
pub use self::emit::Format;
pub use self::error::{EmitError, MigrateError, Problem};
pub use self::pgmq::{Pgmq, PgmqSource, install_pgmq};
pub use self::report::{Pending, Report};

use sqlx::PgPool;

/// Installs the core that this library embeds, or brings an older one up to date.
///
/// Safe to call at every start of every process: it takes a lock, does nothing when there is
/// nothing to do, and leaves the database as it was when anything fails.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let pool = sqlx::PgPool::connect("postgres://localhost/app").await?;
/// let report = pgflow_postgres::migrate(&pool).await?;
/// println!("{} files applied, pgmq {}", report.applied.len(), report.pgmq);
/// # Ok(())
/// # }
/// ```
pub async fn migrate(pool: &PgPool) -> Result<Report, MigrateError> {
    Core::embedded().migrate(pool).await
}
