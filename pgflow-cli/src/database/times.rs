//! Moments and durations, for people.

use std::time::Duration;

use pgflow_runtime::Timestamp;

use super::Paint;

/// How to print moments.
pub(crate) struct Times {
    pub(crate) now: Timestamp,
    is_utc: bool,
    pub(crate) paint: Paint,
}

impl Times {
    pub(crate) fn new(now: Timestamp, is_utc: bool, paint: Paint) -> Self {
        Self { now, is_utc, paint }
    }

    /// `3 min ago`, `in 20 s`, or the moment itself.
    pub(crate) fn at(&self, at: Timestamp) -> String {
        if self.is_utc {
            return utc(at);
        }
        if at > self.now {
            return format!("in {}", spoken(self.now.saturating_until(at)));
        }
        match at.saturating_until(self.now) {
            short if short < Duration::from_secs(1) => "now".to_owned(),
            ago => format!("{} ago", spoken(ago)),
        }
    }

    /// How long something took, or takes already.
    pub(crate) fn took(&self, from: Timestamp, until: Option<Timestamp>) -> String {
        spoken(from.saturating_until(until.unwrap_or(self.now)))
    }
}

/// A time as one says it: the largest unit that fits.
pub(crate) fn spoken(time: Duration) -> String {
    let (millis, seconds) = (time.as_millis(), time.as_secs());
    match seconds {
        0 => format!("{millis} ms"),
        1..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// `2026-11-17T12:00:00.000Z`.
pub(crate) fn utc(at: Timestamp) -> String {
    let (days, micros) = (at.micros().div_euclid(DAY), at.micros().rem_euclid(DAY));
    let (year, month, day) = civil(days);
    let (millis, seconds) = (micros / 1_000 % 1_000, micros / 1_000_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Year, month and day of a number of days since 1970, by counting in eras of 400 years that begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        let at = |seconds: i64| utc(Timestamp::from_micros(seconds * 1_000_000));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(1_794_916_693), "2026-11-17T11:58:13.000Z");
        assert_eq!(at(-1), "1969-12-31T23:59:59.000Z");
    }

    #[test]
    fn times_are_said_in_the_largest_unit_that_fits() {
        let said = |seconds| spoken(Duration::from_secs(seconds));
        assert_eq!(said(0), "0 ms");
        assert_eq!(said(119), "119 s");
        assert_eq!(said(120), "2 min");
        assert_eq!(said(3 * 86_400), "3 days");
    }
}
