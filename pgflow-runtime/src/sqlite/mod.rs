//! The embedded database: runs in a file, SQLite compiled in, no service.
//!
//! Any number of processes on one machine may use one file; not over a network file system. Each has one
//! connection that writes and a few that read. SQLite lets one connection of all write at a time, so
//! everything here is short: batches in one transaction each, with `BEGIN IMMEDIATE`, which waits for its
//! turn instead of failing in the middle.
//!
//! A step with `tx: &mut Tx` holds that one write lock while it runs: nobody else starts, claims or settles
//! anything on this file meanwhile. Keep such steps to a few milliseconds of SQL, and do the slow part in a step before.
//! The step itself must not wait for that lock either: `db.start` and the like are refused inside of it ([`SqliteError::InsideStep`]; use `start_in`), in
//! tasks that it spawned they wait until it ends. When its time is over, the statement that is at work is interrupted.
//!
//! Commits survive a power failure; see [`Durability`] for the faster choice.
//!
//! ```no_run
//! use pgflow_runtime::backend::Backend;
//! use pgflow_runtime::sqlite::Sqlite;
//!
//! # async fn example() -> Result<(), pgflow_runtime::backend::BackendError> {
//! let sqlite = Sqlite::connect("sqlite:app.db").await?;
//! sqlite.migrate().await?;
//! # Ok(())
//! # }
//! ```

mod apply;
mod backend;
mod check;
mod claim;
mod clock;
mod control;
mod definitions;
mod ensure;
mod error;
mod heartbeat;
mod inputs;
mod list;
mod load;
mod migrate;
mod open;
mod options;
mod read;
mod row;
mod settle;
mod spawn;
mod start;
mod sweep;
mod tasks;
#[cfg(test)]
mod tests;
mod tx;
mod unknown;
mod versions;
mod wakes;
mod write;
mod writer;

use std::sync::Arc;

pub use error::SqliteError;
pub use options::{Durability, SqliteOptions};

pub(crate) use tx::rollback;
pub(crate) use writer::Writer;

use definitions::Memory;
use open::Connections;
use wakes::Hints;

use crate::backend::BackendError;

/// A database in a file, or in memory.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use pgflow_runtime::backend::Backend;
/// use pgflow_runtime::sqlite::Sqlite;
///
/// let sqlite = Sqlite::connect("sqlite::memory:").await?;
/// sqlite.migrate().await?;
/// assert_eq!(sqlite.check().await?, [] as [String; 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Sqlite {
    connections: Connections,
    memory: Memory,
    hints: Arc<Hints>,
    starts: start::Starts,
}

impl Sqlite {
    /// Opens what a URL such as `sqlite:app.db` names; a file that is missing is created.
    pub async fn connect(url: &str) -> Result<Self, BackendError> {
        Self::open(&url.parse()?).await
    }

    /// Opens a database; a file that is missing is created.
    pub async fn open(options: &SqliteOptions) -> Result<Self, BackendError> {
        let connections = Connections::open(options).await?;
        Ok(Self {
            connections,
            memory: Memory::default(),
            hints: Hints::new(),
            starts: start::Starts::default(),
        })
    }
}
