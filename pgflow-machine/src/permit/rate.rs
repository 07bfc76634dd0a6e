//! Rates: token buckets by the database's time.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::PermitProblem;
use crate::Timestamp;
use crate::job::LONGEST;

/// So many in a period, and so many at once. A rate of 0 is a pause.
///
/// ```
/// use pgflow_machine::permit::Rate;
///
/// let rate = Rate::per_minute(3_000).burst(200);
/// assert!(rate.check().is_ok());
/// assert!(Rate::per_second(1).burst(0).check().is_err());
/// assert!(Rate::per_second(0).check().is_ok(), "a pause");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    amount: u32,
    /// Microseconds.
    period: u64,
    burst: u32,
}

impl Rate {
    /// So many in a second, one at a time.
    pub const fn per_second(amount: u32) -> Self {
        Self { amount, period: 1_000_000, burst: 1 }
    }

    /// So many in a minute, one at a time.
    pub const fn per_minute(amount: u32) -> Self {
        Self { period: 60_000_000, ..Self::per_second(amount) }
    }

    /// So many in an hour, one at a time.
    pub const fn per_hour(amount: u32) -> Self {
        Self { period: 3_600_000_000, ..Self::per_second(amount) }
    }

    /// So many at once, when none were taken for long enough.
    #[must_use]
    pub const fn burst(self, burst: u32) -> Self {
        Self { burst, ..self }
    }

    /// How many in a period.
    pub const fn amount(&self) -> u32 {
        self.amount
    }

    /// How long a period is.
    pub const fn period(&self) -> Duration {
        Duration::from_micros(self.period)
    }

    /// How many at once.
    pub const fn most_at_once(&self) -> u32 {
        self.burst
    }

    /// Whether it makes sense.
    pub fn check(&self) -> Result<(), PermitProblem> {
        if self.burst == 0 {
            return Err(PermitProblem::NoBurst);
        }
        if self.period == 0 || u64::from(self.amount) > self.period {
            return Err(PermitProblem::TooFast);
        }
        if self.period() > LONGEST {
            return Err(PermitProblem::TooSlow);
        }
        Ok(())
    }

    /// Microseconds from one token to the next, rounded up so that there are never more than was said; none while paused.
    fn interval(&self) -> Option<i64> {
        let amount = (self.amount > 0).then(|| u64::from(self.amount))?;
        Some(i64::try_from(self.period.div_ceil(amount)).unwrap_or(i64::MAX).max(1))
    }

    fn depth(&self, interval: i64) -> i64 {
        interval.saturating_mul(self.burst.max(1).into())
    }
}

/// `3000/min`, and how many at once if that is more than one.
///
/// ```
/// use pgflow_machine::permit::Rate;
///
/// assert_eq!(Rate::per_minute(3_000).burst(200).to_string(), "3000/min, 200 at once");
/// assert_eq!("5/s".parse(), Ok(Rate::per_second(5)));
/// assert!("5/week".parse::<Rate>().is_err());
/// ```
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, rate)| rate(1).period == self.period) {
            Some((unit, _)) => write!(f, "{}/{unit}", self.amount)?,
            None => write!(f, "{}/{:?}", self.amount, self.period())?,
        }
        if self.burst > 1 { write!(f, ", {} at once", self.burst) } else { Ok(()) }
    }
}

/// So many of a unit of time, one at a time.
type Per = fn(u32) -> Rate;

const UNITS: [(&str, Per); 3] =
    [("s", Rate::per_second), ("min", Rate::per_minute), ("h", Rate::per_hour)];

/// So many in a unit of time, one at a time: `5/s`, `600/min`, `100/h`; `0` is a pause.
impl FromStr for Rate {
    type Err = PermitProblem;

    fn from_str(text: &str) -> Result<Self, PermitProblem> {
        let wrong = || PermitProblem::NoRate(text.to_owned());
        if text == "0" {
            return Ok(Self::per_second(0));
        }
        let (amount, unit) = text.split_once('/').ok_or_else(wrong)?;
        let (_, rate) = UNITS.iter().find(|(known, _)| *known == unit).ok_or_else(wrong)?;
        let rate = rate(amount.parse().map_err(|_| wrong())?);
        rate.check()?;
        Ok(rate)
    }
}

/// A rate and what was taken of it. Whatever window of a period one looks at, it has no more than the amount and the burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// What it goes by.
    pub rate: Rate,
    /// What programs have declared: it is gone by until somebody sets another.
    pub declared: Rate,
    /// When the bucket would be full again, less its depth: each token moves it on by an interval.
    spent: i64,
    /// While it is paused: what it went by before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Rate>,
}

impl Bucket {
    /// A full one.
    pub const fn new(rate: Rate) -> Self {
        Self { rate, declared: rate, spent: i64::MIN, before: None }
    }

    /// How many tokens there are.
    pub fn available(&self, now: Timestamp) -> u32 {
        let Some(interval) = self.rate.interval() else { return 0 };
        u32::try_from(self.slack(self.rate.depth(interval), now) / interval).unwrap_or(u32::MAX)
    }

    /// What is left of a depth.
    fn slack(&self, depth: i64, now: Timestamp) -> i64 {
        let slack = depth - (self.spent.max(now.micros()) - now.micros());
        slack.max(0)
    }

    /// Takes so many.
    pub fn take(&mut self, now: Timestamp, tokens: u32) {
        let interval = self.rate.interval().unwrap_or_default();
        let more = interval.saturating_mul(tokens.into());
        self.spent = self.spent.max(now.micros()).saturating_add(more);
    }

    /// What was taken at a moment was had only now, as on a busy machine: no token came in between. Windows count from when it was had.
    pub fn had_late(&mut self, taken: Timestamp, now: Timestamp) {
        let late = taken.saturating_until(now).as_micros();
        self.spent = self.spent.saturating_add(i64::try_from(late).unwrap_or(i64::MAX));
    }

    /// When there is a token; never while it is paused.
    pub fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let interval = self.rate.interval()?;
        // What others have written may be longer than time is.
        let next = self.spent.max(now.micros()).saturating_add(interval);
        let next = next.saturating_sub(self.rate.depth(interval));
        Some(Timestamp::from_micros(next.max(now.micros())))
    }

    /// Goes by another rate from now on, with as many tokens as there are, or as it may have at once: otherwise a lower one in between would give
    /// back what was taken.
    pub fn set(&mut self, rate: Rate, now: Timestamp) {
        let before = self.before.unwrap_or(self.rate);
        if let Some(interval) = rate.interval() {
            let depth = rate.depth(interval);
            let full = now.micros().saturating_add(depth);
            self.spent = match before.interval() {
                Some(old) => {
                    let slack = i128::from(self.slack(before.depth(old), now));
                    let slack = slack * i128::from(interval) / i128::from(old);
                    full - i64::try_from(slack).unwrap_or(i64::MAX).min(depth)
                }
                None => self.spent.min(full),
            };
        }
        self.before = (rate.amount == 0).then_some(before);
        self.rate = rate;
    }

    /// A program that starts says what it goes by: that counts unless it said so before, since somebody may have set another.
    pub fn declare(&mut self, rate: Rate, now: Timestamp) {
        if self.declared != rate {
            self.declared = rate;
            self.set(rate, now);
        }
    }
}
