//! The one write lock, and who has it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::SqliteConnection;

use super::SqliteError;

/// A statement is asked about as often as this, in instructions of SQLite's machine: some hundred times a second.
const ASK_AFTER: i32 = 10_000;

/// How long a step may have it, where nobody says otherwise.
pub(super) const LONGEST: Duration = Duration::from_secs(5);

tokio::task_local! {
    /// What the step that runs in this task has.
    static HELD: Writer;
}

/// The connection of one database that writes.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    /// How long a step may have it.
    pub(crate) longest: Duration,
    /// Nobody waits any more for the statement that is at work.
    is_interrupted: Arc<AtomicBool>,
}

impl Default for Writer {
    fn default() -> Self {
        Self::new(LONGEST)
    }
}

impl Writer {
    pub(crate) fn new(longest: Duration) -> Self {
        Self { longest, is_interrupted: Arc::default() }
    }

    /// What the step that runs here has.
    pub(crate) fn held_here() -> Option<Self> {
        HELD.try_with(Clone::clone).ok()
    }

    /// Does something as part of a step that has it.
    pub(crate) async fn held_by<T>(self, work: impl Future<Output = T>) -> T {
        HELD.scope(self, work).await
    }

    /// An error if it is asked for inside of the step that has it, which would wait for itself.
    pub(super) fn check_not_held(&self) -> Result<(), SqliteError> {
        let held = Self::held_here();
        if held.is_some_and(|held| Arc::ptr_eq(&held.is_interrupted, &self.is_interrupted)) {
            return Err(SqliteError::InsideStep);
        }
        Ok(())
    }

    /// Ends the statement that is at work.
    pub(crate) fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::Release);
    }

    /// The connection is somebody else's now.
    pub(super) fn go_on(&self) {
        self.is_interrupted.store(false, Ordering::Release);
    }

    /// Has a new connection ask whether to go on.
    pub(super) async fn watch(self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        self.go_on();
        let mut handle = connection.lock_handle().await?;
        handle
            .set_progress_handler(ASK_AFTER, move || !self.is_interrupted.load(Ordering::Acquire));
        Ok(())
    }
}
