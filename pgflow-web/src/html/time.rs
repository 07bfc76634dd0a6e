//! Moments and durations, for people.

use std::time::Duration;

use maud::{Markup, html};
use pgflow_runtime::Timestamp;

/// A moment in UTC. Where there is a script, it says how long ago that is.
pub(crate) fn moment(at: Timestamp) -> Markup {
    let text = utc(at);
    html! { time datetime=(iso(at)) title=(text) { (text) } }
}

/// A moment that something goes on since. Where there is a script, it counts.
pub(crate) fn since(at: Timestamp) -> Markup {
    html! { time.since datetime=(iso(at)) title=(utc(at)) { "since " (utc(at)) } }
}

/// `2026-11-17 12:03:11 UTC`
pub(crate) fn utc(at: Timestamp) -> String {
    let iso = iso(at);
    let (date, clock) = iso.split_once('T').unwrap_or_default();
    format!("{date} {} UTC", clock.split('.').next().unwrap_or_default())
}

/// `12:03:11.042`, for what happens close together.
pub(crate) fn precise(at: Timestamp) -> String {
    iso(at).split(['T', 'Z']).nth(1).unwrap_or_default().to_owned()
}

/// `2026-11-17T12:03:11.042Z`
pub(crate) fn iso(at: Timestamp) -> String {
    at.to_string()
}

/// `42 ms`, `3.1 s`, `2 min 5 s`, `3 h 20 min`, `12 d 4 h`
pub(crate) fn duration(time: Duration) -> String {
    let (millis, seconds) = (time.as_millis(), time.as_secs());
    match seconds {
        0 if millis == 0 => format!("{} µs", time.as_micros()),
        0 => format!("{millis} ms"),
        1..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// Without what changes at every look.
pub(crate) fn whole_seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => "< 1 s".to_owned(),
        seconds @ 1..60 => format!("{seconds} s"),
        _ => duration(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates() {
        for (micros, expected) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (1_794_917_891_500_000, "2026-11-17 12:18:11 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc(Timestamp::from_micros(micros)), expected);
        }
        assert_eq!(precise(Timestamp::from_micros(1_794_917_891_042_999)), "12:18:11.042");
    }

    #[test]
    fn durations_have_two_places() {
        for (micros, expected) in [
            (7, "7 µs"),
            (42_000, "42 ms"),
            (3_140_000, "3.1 s"),
            (125_000_000, "2 min 5 s"),
            (12_000_000_000, "3 h 20 min"),
            (1_051_200_000_000, "12 d 4 h"),
        ] {
            assert_eq!(duration(Duration::from_micros(micros)), expected);
        }
    }
}
