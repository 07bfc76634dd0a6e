//! Time, which may stand still.

use std::time::{Duration, Instant, SystemTime};

use pgflow_machine::Timestamp;

/// Where tests begin: the first second of 2000.
const MILLENNIUM: Timestamp = Timestamp::from_micros(946_684_800_000_000);

#[derive(Debug)]
pub(super) struct Clock {
    start: Timestamp,
    /// When `start` was, if time goes by on its own.
    since: Option<Instant>,
    skipped: Duration,
}

impl Clock {
    pub(super) fn still() -> Self {
        Self { start: MILLENNIUM, since: None, skipped: Duration::ZERO }
    }

    pub(super) fn real() -> Self {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let start = Timestamp::default() + since_1970.unwrap_or_default();
        Self { start, since: Some(Instant::now()), skipped: Duration::ZERO }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.start + self.since.map_or(Duration::ZERO, |since| since.elapsed()) + self.skipped
    }

    pub(super) fn advance(&mut self, time: Duration) {
        self.skipped = self.skipped.saturating_add(time);
    }
}
