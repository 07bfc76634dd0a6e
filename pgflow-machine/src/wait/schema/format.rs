//! Formats of texts: what every reader of such a type takes. A text that some of them would take and others would not is refused, because its
//! sender can be told so, and a wait that it has closed stays closed.

use std::net::{Ipv4Addr, Ipv6Addr};

/// No text of these formats is longer.
const LONGEST: usize = 100;

/// Whether a text has a format. What is not known of those accepts everything.
pub(super) fn has_format(format: &str, text: &str) -> bool {
    let check: fn(&str) -> bool = match format {
        "uuid" => is_uuid,
        "date" => is_date,
        "partial-time" => is_time,
        "partial-date-time" => |text| is_moment(text, "T"),
        "date-time" => is_date_time,
        "zoned-date-time" => is_zoned,
        "ipv4" => is_ipv4,
        "ipv6" => is_ipv6,
        "ip" => |text| is_ipv4(text) || is_ipv6(text),
        _ => return true,
    };
    text.len() <= LONGEST && text.is_ascii() && check(text)
}

/// With its hyphens, or without any.
fn is_uuid(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    text.split('-').all(is_hex) && (lengths == [8, 4, 4, 4, 12] || lengths == [32])
}

/// `2026-11-17`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// `03:00:00`, with up to nine digits of a second's fraction.
fn is_time(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let parts: Vec<&str> = whole.split(':').collect();
    let [hours, minutes, seconds] = parts[..] else { return false };
    is_below(hours, 24)
        && is_below(minutes, 60)
        && is_below(seconds, 61)
        && (1..=9).contains(&fraction.len())
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

/// A date and a time, with one of these between them.
fn is_moment(text: &str, between: &str) -> bool {
    let (Some(date), Some(mark), Some(time)) = (text.get(..10), text.get(10..11), text.get(11..))
    else {
        return false;
    };
    is_date(date) && between.contains(mark) && is_time(time)
}

/// `2026-11-17T03:00:00Z`, or with an offset like `+01:00`.
fn is_date_time(text: &str) -> bool {
    if let Some(moment) = text.strip_suffix(['Z', 'z']) {
        return is_moment(moment, "Tt ");
    }
    let Some(at) = text.len().checked_sub(6) else { return false };
    let (moment, offset) = text.split_at(at);
    let is_offset = offset.starts_with(['+', '-'])
        && &offset[3..4] == ":"
        && is_below(&offset[1..3], 24)
        && is_below(&offset[4..], 60);
    is_offset && is_moment(moment, "Tt ")
}

/// `2026-11-17T03:00:00+01:00[Europe/Berlin]`.
fn is_zoned(text: &str) -> bool {
    let zone = text.strip_suffix(']').and_then(|text| text.split_once('['));
    zone.is_some_and(|(moment, zone)| {
        !zone.is_empty() && !zone.contains(['[', ']']) && is_date_time(moment)
    })
}

fn is_ipv4(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok()
}

fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

/// A number of so many digits.
fn digits(text: &str, many: usize) -> Option<u32> {
    let is_number = text.len() == many && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// A number of two digits that is less than this.
fn is_below(text: &str, limit: u32) -> bool {
    digits(text, 2).is_some_and(|number| number < limit)
}

#[cfg(test)]
mod tests {
    use super::has_format;

    #[test]
    fn texts_have_their_format_or_not() {
        for (format, right, wrong) in [
            (
                "uuid",
                &["67e55044-10b1-426f-9247-bb680e5fe0c8", "67E5504410B1426F9247BB680E5FE0C8"][..],
                &[
                    "",
                    "not-a-uuid",
                    "67e55044-10b1-426f-9247-bb680e5fe0cg",
                    "67e5504410b1-426f9247-bb680e5fe0c8",
                ][..],
            ),
            (
                "date",
                &["2024-02-29", "2026-12-31", "2000-02-29"],
                &["2023-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "1900-02-29", "2026-04-31"],
            ),
            (
                "partial-time",
                &["00:00:00", "23:59:60", "03:00:00.123456789"],
                &["24:00:00", "03:60:00", "03:00", "03:00:00.", "03:00:00.1234567890"],
            ),
            (
                "partial-date-time",
                &["2026-11-17T03:00:00", "2026-11-17T03:00:00.5"],
                &["2026-11-17 03:00:00", "2026-11-17", "2026-11-17T03:00:00Z"],
            ),
            (
                "date-time",
                &["2026-11-17T03:00:00Z", "2026-11-17t03:00:00.25z", "2026-11-17 03:00:00-09:30"],
                &[
                    "tomorrow",
                    "2026-11-17T03:00:00",
                    "2026-11-17T03:00:00+24:00",
                    "2026-11-17T03:00:00+0100",
                    "2026-11-31T03:00:00Z",
                ],
            ),
            (
                "zoned-date-time",
                &["2026-11-17T03:00:00+01:00[Europe/Berlin]"],
                &["2026-11-17T03:00:00+01:00", "2026-11-17T03:00:00+01:00[]", "[UTC]"],
            ),
            ("ipv4", &["127.0.0.1", "255.255.255.255"], &["256.0.0.1", "1.2.3", "01.2.3.4", "::1"]),
            (
                "ipv6",
                &["::", "::1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::ffff:10.0.0.1"],
                &[":1", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "fe80::1%eth0", "127.0.0.1"],
            ),
            ("ip", &["::1", "10.0.0.1"], &["host"]),
            ("uri", &["whatever"], &[]),
        ] {
            for text in right {
                assert!(has_format(format, text), "{format}: {text}");
            }
            for text in wrong {
                assert!(!has_format(format, text), "{format}: {text}");
            }
        }
        assert!(!has_format("uuid", "ä".repeat(16).as_str()));
    }
}
