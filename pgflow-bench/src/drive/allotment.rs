//! Which connection may ask for how many of the tasks that are left.
//!
//! Without it, all of them would ask for the last ones: a phase would take more tasks than it
//! should, and polls for tasks that nobody will ever send would wait in the server.

use std::cell::Cell;
use std::time::{Duration, Instant};

use sqlx::PgConnection;
use tokio::time::sleep;

use super::{Driver, Task};
use crate::error::Result;

/// Wait after an empty claim: about what a worker that is rung up needs.
const IDLE: Duration = Duration::from_millis(2);

/// The tasks of a phase, shared by its connections.
pub(super) struct Allotment {
    expected: u32,
    claimed: Cell<u32>,
    asked: Cell<u32>,
    end: Instant,
}

impl Allotment {
    pub(super) fn new(expected: u32, limit: Duration) -> Self {
        Self { expected, claimed: Cell::new(0), asked: Cell::new(0), end: Instant::now() + limit }
    }

    pub(super) fn claimed(&self) -> u32 {
        self.claimed.get()
    }

    /// The next tasks for this connection; none when all are taken or the time is up.
    pub(super) async fn claim(
        &self,
        driver: &Driver,
        lane: &mut PgConnection,
    ) -> Result<Vec<Task>> {
        while self.claimed.get() < self.expected && Instant::now() < self.end {
            let share = driver.batch.min(self.expected - self.claimed.get() - self.asked.get());
            self.asked.set(self.asked.get() + share);
            let tasks = if share > 0 { driver.claim(lane, share).await? } else { Vec::new() };
            self.asked.set(self.asked.get() - share);
            if !tasks.is_empty() {
                let count = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
                self.claimed.set(self.claimed.get() + count);
                return Ok(tasks);
            }
            sleep(IDLE).await;
        }
        Ok(Vec::new())
    }
}
