//! Turns of processes at the write lock.
//!
//! SQLite gives the lock to whoever asks when it is free, and those who wait ask again after pauses that grow: a process that
//! has just given it up is faster than all of them. So each process takes a second lock before it asks, of a file
//! beside the database, and gives it up once it has the first. Whoever comes from a transaction stands behind those who wait.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep, timeout};

/// How long this process waits for itself, as for a connection.
const WAIT: Duration = Duration::from_secs(30);
/// How long for others: one that was stopped while it stood before the lock must not stop all.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(2);

/// Where transactions that write line up.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// One of this process at a time, in the order of asking.
    door: Mutex<()>,
    /// None where there are no other processes, or no file can be made.
    file: Option<File>,
}

/// The right to ask for the lock.
pub(super) struct Turn<'a> {
    file: Option<&'a File>,
    _door: MutexGuard<'a, ()>,
}

impl Turns {
    /// For this database.
    pub(super) fn beside(database: &Path) -> Self {
        let mut name = database.as_os_str().to_owned();
        name.push("-turn");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&name);
        if let Err(error) = &file {
            tracing::debug!(%error, "processes do not take turns at the write lock");
        }
        Self { door: Mutex::default(), file: file.ok() }
    }

    /// Waits for a turn.
    pub(super) async fn next(&self) -> Result<Turn<'_>, sqlx::Error> {
        let door = timeout(WAIT, self.door.lock()).await;
        let door = door.map_err(|_| sqlx::Error::PoolTimedOut)?;
        let file = match &self.file {
            Some(file) if is_locked_in_time(file).await => Some(file),
            _ => None,
        };
        Ok(Turn { file, _door: door })
    }
}

async fn is_locked_in_time(file: &File) -> bool {
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(PAUSE).await,
            Err(_) => return false,
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.file.map(File::unlock) {
            tracing::warn!(%error, "a turn at the write lock is not over");
        }
    }
}
