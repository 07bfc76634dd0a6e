//! Moments and durations, for people.

use std::time::Duration;

use maud::{Markup, html};
use pgflow_runtime::Timestamp;

const DAY: i64 = 86_400;

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
    let (year, month, day) = date(at);
    let (hour, minute, second) = clock(at);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// `12:03:11.042`, for what happens close together.
pub(crate) fn precise(at: Timestamp) -> String {
    let (hour, minute, second) = clock(at);
    let millis = at.micros().rem_euclid(1_000_000) / 1_000;
    format!("{hour:02}:{minute:02}:{second:02}.{millis:03}")
}

/// `2026-11-17T12:03:11.042Z`
pub(crate) fn iso(at: Timestamp) -> String {
    let (year, month, day) = date(at);
    format!("{year:04}-{month:02}-{day:02}T{}Z", precise(at))
}

fn clock(at: Timestamp) -> (i64, i64, i64) {
    let second = at.micros().div_euclid(1_000_000).rem_euclid(DAY);
    (second / 3600, second / 60 % 60, second % 60)
}

/// Days since 1970 as a date of the Gregorian calendar, counted in years that begin in March, so that the day that some
/// years have more is the last one.
fn date(at: Timestamp) -> (i64, i64, i64) {
    let days = at.micros().div_euclid(DAY * 1_000_000) + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
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
            (951_782_399_000_000, "2000-02-28 23:59:59 UTC"),
            (951_782_400_000_000, "2000-02-29 00:00:00 UTC"),
            (1_794_917_891_500_000, "2026-11-17 12:18:11 UTC"),
            (4_107_542_400_000_000, "2100-03-01 00:00:00 UTC"),
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
