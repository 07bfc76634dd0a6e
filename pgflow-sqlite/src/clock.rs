//! The database's time.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use sqlx::SqliteConnection;

use super::error::Result;

/// Microseconds since 1970; SQLite knows milliseconds.
pub(super) async fn now(connection: &mut SqliteConnection) -> Result<i64> {
    let now = "select cast(round(unixepoch('subsec') * 1e3) as integer) * 1000";
    Ok(sqlx::query_scalar(now).fetch_one(connection).await?)
}

/// More than this, and the clock was set.
const JUMP: i64 = 5_000_000;

/// Notices when somebody sets the machine's clock: leases and delays are counted by it.
#[derive(Debug, Default)]
pub(super) struct ClockWatch(Mutex<Option<(i64, Instant)>>);

impl ClockWatch {
    /// Takes a reading. The log says so if the clock was set since the one before.
    pub(super) fn read(&self, now: i64) {
        let Some(jump) = self.jump(now, Instant::now()) else { return };
        let seconds = jump / 1_000_000;
        if jump > 0 {
            tracing::warn!(seconds, "the machine's clock was set forward: leases run out early");
        } else {
            tracing::warn!(
                seconds,
                "the machine's clock was set back: delays and leases last longer"
            );
        }
    }

    /// By how many microseconds the clock was set.
    fn jump(&self, now: i64, at: Instant) -> Option<i64> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (then, since) = last.replace((now, at))?;
        // Readings of two threads may come in any order.
        let elapsed = i64::try_from(at.saturating_duration_since(since).as_micros()).ok()?;
        let jump = now.saturating_sub(then).saturating_sub(elapsed);
        (jump.abs() > JUMP).then_some(jump)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_that_is_set_is_noticed_once() {
        let (watch, start) = (ClockWatch::default(), Instant::now());
        let read = |wall: u32, real: u64| {
            watch.jump(i64::from(wall) * 1_000_000, start + Duration::from_secs(real))
        };
        assert_eq!(read(1_000, 0), None);
        assert_eq!(read(1_060, 60), None, "time goes by");
        assert_eq!(read(4_670, 70), Some(3_600_000_000), "an hour too much");
        assert_eq!(read(4_680, 80), None);
        assert_eq!(read(1_090, 90), Some(-3_600_000_000), "and back");
        assert_eq!(read(1_093, 90), None, "what is small is no matter");
    }
}
