//! Moments, as the database tells them.

use std::fmt;
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
/// assert_eq!(noon.to_string(), "1970-01-01T00:00:01.000Z");
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

/// In UTC, to the millisecond.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.0.div_euclid(DAY));
        let micros = self.0.rem_euclid(DAY);
        let (millis, seconds) = (micros / 1_000 % 1_000, micros / 1_000_000);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Days since 1970 as a date of the Gregorian calendar, counted in years that begin in March, so that the day that some
/// years have more is the last one.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
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

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (micros, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_000_000, "2000-02-28T23:59:59.000Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000Z"),
            (1_794_917_891_042_999, "2026-11-17T12:18:11.042Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::from_micros(micros).to_string(), expected);
        }
    }
}
