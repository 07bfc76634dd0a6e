//! Moments, as the database tells them.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// A moment of the database's clock, in microseconds since 1970.
///
/// ```
/// use pgflow_machine::Timestamp;
/// use std::time::Duration;
///
/// let noon = Timestamp::from_micros(1_000_000);
/// assert_eq!(noon + Duration::from_secs(1), Timestamp::from_micros(2_000_000));
/// assert_eq!(noon.saturating_until(noon + Duration::from_secs(5)), Duration::from_secs(5));
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From microseconds since 1970.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// How long it is until `later`; zero if that is over.
    pub fn saturating_until(self, later: Self) -> Duration {
        Duration::from_micros(later.0.saturating_sub(self.0).try_into().unwrap_or(0))
    }
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros))
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => Self(micros(since)),
            Err(before) => Self(-micros(before.duration())),
        }
    }
}

impl From<Timestamp> for SystemTime {
    fn from(moment: Timestamp) -> Self {
        let distance = Duration::from_micros(moment.0.unsigned_abs());
        if moment.0 < 0 { Self::UNIX_EPOCH - distance } else { Self::UNIX_EPOCH + distance }
    }
}
