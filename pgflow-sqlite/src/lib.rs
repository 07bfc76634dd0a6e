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
//! tasks that it spawned they wait until it ends. When its time is over, the statement that is at work is interrupted: after its timeout,
//! or after [`SqliteOptions::longest_tx`], 5 s, whichever comes first. Processes get the lock in no particular order, so where several of
//! them are busy with such steps all the time, one may wait for it so long that its leases run out, and its tasks begin again elsewhere; and
//! a process that is stopped (`SIGSTOP`, a suspended machine) inside of such a step keeps it from all others until it goes on or is killed.
//!
//! Commits survive a power failure; see [`Durability`] for the faster choice.
//!
//! ```no_run
//! use pgflow_backend::backend::Backend;
//! use pgflow_sqlite::Sqlite;
//!
//! # async fn example() -> Result<(), pgflow_backend::backend::BackendError> {
//! let sqlite = Sqlite::connect("sqlite:app.db").await?;
//! sqlite.migrate().await?;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod check;
mod claim;
mod clock;
mod definitions;
mod error;
mod jobs;
mod list;
mod load;
mod lost;
mod migrate;
mod open;
mod options;
mod payloads;
mod pipelines;
mod prune;
mod read;
mod row;
mod schedules;
mod session;
mod spawn;
mod start;
mod store;
mod streams;
mod tasks;
#[cfg(test)]
mod tests;
mod turn;
mod tx;
mod upkeep;
mod waits;
mod wakes;
mod work;
mod write;
mod writer;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

pub use error::{SqliteError, is_file_wide};
pub use jobs::submit_in;
pub use options::{Durability, SqliteOptions};
pub use pipelines::push_in;
pub use session::SqliteSession;
pub use start::start_in;
pub use tx::SqliteTx;
pub use waits::signal_in;

use definitions::Known;
use open::Connections;
use wakes::Hints;

use pgflow_backend::backend::BackendError;
use pgflow_backend::store::{Cursors, Signed, Starts};

/// A database in a file, or in memory.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use pgflow_backend::backend::Backend;
/// use pgflow_sqlite::Sqlite;
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
    known: Known,
    hints: Arc<Hints>,
    starts: Starts,
    claims: AtomicU32,
    cursors: Cursors,
    signed: Signed,
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
            known: Known::default(),
            hints: Hints::new(),
            starts: Starts::default(),
            claims: AtomicU32::new(0),
            cursors: Cursors::default(),
            signed: Signed::default(),
        })
    }
}
