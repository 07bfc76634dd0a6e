//! The one write lock, and who has it.

use std::time::Duration;

use pgflow_backend::tx::WriteLock;
use sqlx::SqliteConnection;

use super::SqliteError;

/// A statement is asked about as often as this, in instructions of SQLite's machine: some hundred times a second.
const ASK_AFTER: i32 = 10_000;

/// How long a step may have it, where nobody says otherwise.
pub(super) const LONGEST: Duration = Duration::from_secs(5);

/// An error if the lock is asked for inside of the step that has it, which would wait for itself.
pub(super) fn check_not_held(lock: &WriteLock) -> Result<(), SqliteError> {
    if lock.is_held_here() { Err(SqliteError::InsideStep) } else { Ok(()) }
}

/// Has a new connection ask whether to go on.
pub(super) async fn watch(
    lock: WriteLock,
    connection: &mut SqliteConnection,
) -> Result<(), sqlx::Error> {
    lock.go_on();
    let mut handle = connection.lock_handle().await?;
    handle.set_progress_handler(ASK_AFTER, move || !lock.is_interrupted());
    Ok(())
}
