//! Timetables, case by case.

use super::*;

fn moment(text: &str) -> i64 {
    text.parse::<Timestamp>().unwrap().as_microsecond()
}

fn text(moment: i64) -> String {
    Timestamp::from_microsecond(moment).unwrap().to_string()
}

/// The moments after one, up to another.
fn between(cron: &str, zone: &str, from: &str, to: &str) -> Vec<String> {
    let timetable = Timetable::new(cron, zone).unwrap();
    let (mut at, to) = (moment(from), moment(to));
    let mut found = Vec::new();
    while let Some(next) = timetable.after(at).filter(|next| *next <= to) {
        found.push(text(next));
        at = next;
    }
    // Looked at from the other end, they are the same.
    let mut back = Vec::new();
    let mut at = to;
    while let Some(previous) = timetable.until(at).filter(|previous| *previous > moment(from)) {
        back.insert(0, text(previous));
        at = previous - 1;
    }
    assert_eq!(found, back, "{cron} in {zone}");
    found
}

#[test]
fn days_and_weekdays() {
    let days = between("0 3 * * MON-FRI", "UTC", "2025-01-03T03:00:00Z", "2025-01-07T12:00:00Z");
    assert_eq!(days, ["2025-01-06T03:00:00Z", "2025-01-07T03:00:00Z"]);
    let last = between("0 0 L * *", "UTC", "2024-02-01T00:00:00Z", "2024-04-01T00:00:00Z");
    assert_eq!(last, ["2024-02-29T00:00:00Z", "2024-03-31T00:00:00Z"]);
    let leap = between("0 0 29 2 *", "UTC", "2024-03-01T00:00:00Z", "2029-01-01T00:00:00Z");
    assert_eq!(leap, ["2028-02-29T00:00:00Z"]);
}

#[test]
fn seconds_come_first() {
    let found = between("*/20 * * * * *", "UTC", "2025-01-01T00:00:00Z", "2025-01-01T00:01:00Z");
    assert_eq!(found, ["2025-01-01T00:00:20Z", "2025-01-01T00:00:40Z", "2025-01-01T00:01:00Z"]);
}

#[test]
fn a_time_that_does_not_happen_counts_at_the_next_moment() {
    let (from, to) = ("2025-03-29T12:00:00Z", "2025-03-31T12:00:00Z");
    let found = between("30 2 * * *", "Europe/Berlin", from, to);
    assert_eq!(found, ["2025-03-30T01:00:00Z", "2025-03-31T00:30:00Z"]);
    // Four of them that do not happen, and three o'clock, are one moment.
    let found =
        between("*/15 * * * *", "Europe/Berlin", "2025-03-30T00:40:00Z", "2025-03-30T01:20:00Z");
    assert_eq!(found, ["2025-03-30T00:45:00Z", "2025-03-30T01:00:00Z", "2025-03-30T01:15:00Z"]);
}

#[test]
fn an_hour_that_happens_twice_counts_once() {
    let (from, to) = ("2025-10-25T12:00:00Z", "2025-10-27T12:00:00Z");
    let found = between("30 2 * * *", "Europe/Berlin", from, to);
    assert_eq!(found, ["2025-10-26T00:30:00Z", "2025-10-27T01:30:00Z"]);
    let found =
        between("0 * * * *", "Europe/Berlin", "2025-10-25T23:30:00Z", "2025-10-26T02:30:00Z");
    assert_eq!(found, ["2025-10-26T00:00:00Z", "2025-10-26T02:00:00Z"]);
}

#[test]
fn from_within_the_hour_that_happens_again() {
    let timetable = Timetable::new("*/30 * * * *", "Europe/Berlin").unwrap();
    let again = moment("2025-10-26T01:10:00Z");
    assert_eq!(timetable.after(again).map(text).as_deref(), Some("2025-10-26T02:00:00Z"));
    assert_eq!(timetable.until(again).map(text).as_deref(), Some("2025-10-26T00:30:00Z"));
}

#[test]
fn other_zones_have_other_rules() {
    // Half an hour, in the other half of the year.
    let found = between(
        "15 2 * * *",
        "Australia/Lord_Howe",
        "2025-10-04T00:00:00Z",
        "2025-10-05T20:00:00Z",
    );
    assert_eq!(found, ["2025-10-04T15:30:00Z", "2025-10-05T15:15:00Z"]);
    // A day that did not happen at all.
    let found =
        between("0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", "2012-06-01T00:00:00Z");
    assert_eq!(found, ["2011-12-30T10:00:00Z"]);
    let found =
        between("0 9 * * *", "Asia/Kathmandu", "2025-01-01T00:00:00Z", "2025-01-02T00:00:00Z");
    assert_eq!(found, ["2025-01-01T03:15:00Z"]);
}

#[test]
fn what_is_wrong_is_said() {
    let error = |cron, zone| Timetable::new(cron, zone).unwrap_err().to_string();
    assert_eq!(error("", "UTC"), "`` is empty");
    assert_eq!(
        error("0 3 * *", "UTC"),
        "`0 3 * *` has 4 fields: five are wanted, or six with seconds first"
    );
    assert!(error("0 25 * * *", "UTC").starts_with("`0 25 * * *` is not a cron expression"));
    assert!(error("0 3 * * FOO", "UTC").starts_with("`0 3 * * FOO` is not a cron expression"));
    assert_eq!(error("0 0 31 2 *", "UTC"), "`0 0 31 2 *` never happens");
    assert_eq!(
        error("@daily", "Berlin"),
        "there is no time zone `Berlin`: did you mean `Europe/Berlin`?"
    );
    assert_eq!(error("@daily", "Nowhere/At_All"), "there is no time zone `Nowhere/At_All`");
}
