//! Workers of this process, and when they last said that they are alive.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pgflow_machine::WorkerId;

/// How often a worker writes that it is alive. Sweeps come more often, and a write keeps others from writing.
const BEAT: Duration = Duration::from_secs(15);

/// Workers of this process that signed on, and when they last wrote that they are alive.
#[derive(Debug, Default)]
pub struct Signed(Mutex<Vec<(WorkerId, Instant)>>);

impl Signed {
    /// It has just signed on.
    pub fn add(&self, worker: WorkerId) {
        let mut signed = self.lock();
        signed.retain(|(known, _)| *known != worker);
        signed.push((worker, Instant::now()));
    }

    /// It has ended. Whether it was known.
    pub fn forget(&self, worker: WorkerId) -> bool {
        let mut signed = self.lock();
        let before = signed.len();
        signed.retain(|(known, _)| *known != worker);
        signed.len() < before
    }

    /// Those that have not said for a while that they are alive, and are about to.
    pub fn due(&self) -> Vec<WorkerId> {
        let (mut due, now) = (Vec::new(), Instant::now());
        for (worker, beat) in &mut *self.lock() {
            if now.duration_since(*beat) >= BEAT {
                *beat = now;
                due.push(*worker);
            }
        }
        due
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(WorkerId, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
