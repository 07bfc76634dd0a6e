//! When an expression happens.

use chrono::{DateTime as WallTime, NaiveDateTime, TimeDelta};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use crate::{Expression, InvalidCron, UnknownZone, check_zone};

/// Expressions name no parts of seconds.
const SECOND: TimeDelta = TimeDelta::seconds(1);

/// An expression in a time zone. Moments are microseconds since 1970.
///
/// Its moments are those of the times that its expression names on a clock on the wall there: a time that happens twice
/// counts when it happens first, and one that does not happen counts at the moment that comes instead, when clocks are put
/// forward. Several that come to the same moment are one.
///
/// ```
/// use pgflow_cron::Timetable;
///
/// let nightly = Timetable::new("30 2 * * *", "Europe/Berlin")?;
/// let moment = |text: &str| text.parse::<jiff::Timestamp>().map(|at| at.as_microsecond());
/// // In the night to 30 March 2025 there is no half past two.
/// assert_eq!(nightly.after(moment("2025-03-29T12:00:00Z")?), Some(moment("2025-03-30T01:00:00Z")?));
/// assert_eq!(nightly.after(moment("2025-03-30T01:00:00Z")?), Some(moment("2025-03-31T00:30:00Z")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Timetable {
    expression: Expression,
    zone: TimeZone,
}

/// What is wrong with a timetable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTimetable {
    /// The expression.
    #[error(transparent)]
    Cron(#[from] InvalidCron),
    /// The zone.
    #[error(transparent)]
    Zone(#[from] UnknownZone),
}

impl Timetable {
    /// Of an expression in the zone of this name.
    pub fn new(cron: &str, zone: &str) -> Result<Self, InvalidTimetable> {
        let expression = Expression::parse(cron)?;
        check_zone(zone)?;
        let unknown = |_| UnknownZone { name: zone.to_owned(), meant: None };
        let zone = TimeZone::get(zone).map_err(unknown)?;
        Ok(Self { expression, zone })
    }

    /// The first moment after this one.
    pub fn after(&self, moment: i64) -> Option<i64> {
        let mut wall = self.wall(moment)?;
        loop {
            wall = self.expression.next(wall + SECOND)?;
            // In an hour that happens again, all times have been.
            let found = self.moment(wall)?;
            if found > moment {
                return Some(found);
            }
        }
    }

    /// The last moment before this one, or at it.
    pub fn until(&self, moment: i64) -> Option<i64> {
        let mut wall = self.expression.previous(self.latest_wall(moment)?)?;
        loop {
            let found = self.moment(wall)?;
            if found <= moment {
                return Some(found);
            }
            wall = self.expression.previous(wall - SECOND)?;
        }
    }

    /// What clocks show that have no parts of seconds.
    fn wall(&self, moment: i64) -> Option<NaiveDateTime> {
        let shown = Timestamp::from_second(moment.div_euclid(1_000_000)).ok()?;
        let shown = self.zone.to_datetime(shown);
        let micros = TimeZone::UTC.to_timestamp(shown).ok()?.as_microsecond();
        Some(WallTime::from_timestamp_micros(micros)?.naive_utc())
    }

    /// The latest time that clocks have shown: in an hour that happens again, its end.
    fn latest_wall(&self, moment: i64) -> Option<NaiveDateTime> {
        let wall = self.wall(moment)?;
        let shown = civil(wall)?;
        Some(match self.zone.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Fold { before, after } => {
                wall + TimeDelta::seconds(i64::from(before.seconds() - after.seconds()))
            }
            _ => wall,
        })
    }

    /// When clocks show this.
    fn moment(&self, wall: NaiveDateTime) -> Option<i64> {
        let ambiguous = self.zone.to_ambiguous_timestamp(civil(wall)?);
        let found = match ambiguous.offset() {
            // Clocks are put forward: that very moment, which is the next change after what they showed last.
            AmbiguousOffset::Gap { before, after } => {
                let size = SignedDuration::from_secs((after.seconds() - before.seconds()).into());
                let shortly_before = ambiguous.later().ok()? - size;
                let change = self.zone.following(shortly_before).next();
                change.map(|change| change.timestamp())?
            }
            _ => ambiguous.earlier().ok()?,
        };
        Some(found.as_microsecond())
    }
}

fn civil(wall: NaiveDateTime) -> Option<DateTime> {
    let micros = wall.and_utc().timestamp_micros();
    Some(TimeZone::UTC.to_datetime(Timestamp::from_microsecond(micros).ok()?))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
