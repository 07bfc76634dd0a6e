//! Moments and durations, for people.

use std::time::Duration;

use pgflow_runtime::Timestamp;
use pgflow_runtime::client::Moments;

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

    /// How sentences say moments: from that one on, or as they are.
    pub(crate) fn moments(&self, now: Timestamp) -> Moments {
        if self.is_utc { Moments::exact() } else { now.into() }
    }

    /// `3 min ago`, `in 20 s`, or the moment itself.
    pub(crate) fn at(&self, at: Timestamp) -> String {
        if self.is_utc {
            return at.to_string();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_the_largest_unit_that_fits() {
        let said = |seconds| spoken(Duration::from_secs(seconds));
        assert_eq!(said(0), "0 ms");
        assert_eq!(said(119), "119 s");
        assert_eq!(said(120), "2 min");
        assert_eq!(said(3 * 86_400), "3 days");
    }
}
