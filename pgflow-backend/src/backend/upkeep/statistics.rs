//! How runs and steps did lately.

use std::collections::BTreeMap;
use std::time::Duration;

use pgflow_machine::{RunStatus, StepStatus, Timestamp};

/// How a step of a version did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepStatistics {
    /// Its slug.
    pub slug: String,
    /// How often it was completed.
    pub completed: u64,
    /// How often it failed.
    pub failed: u64,
    /// How often it was skipped.
    pub skipped: u64,
    /// The time that half of those that were completed took at most, from their start to their end.
    pub p50: Option<Duration>,
    /// The time that 95 of 100 took at most.
    pub p95: Option<Duration>,
}

impl StepStatistics {
    /// Of those that were completed or failed, the share that failed.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn fail_rate(&self) -> f64 {
        let ended = self.completed + self.failed;
        if ended == 0 { 0.0 } else { self.failed as f64 / ended as f64 }
    }
}

/// What became of runs that began in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// When the window begins: later than asked for if there were more runs in it than are looked at.
    pub since: Timestamp,
    /// When it ends.
    pub until: Timestamp,
    /// Minutes in which runs began, in order.
    pub minutes: Vec<Minute>,
    /// The time that half of the completed ones took at most.
    pub p50: Option<Duration>,
    /// The time that 95 of 100 took at most.
    pub p95: Option<Duration>,
}

/// Runs that began in a minute, by what they are now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Minute {
    /// When it begins.
    pub at: Timestamp,
    /// How many began.
    pub started: u64,
    /// Those that are completed.
    pub completed: u64,
    /// Those that have failed.
    pub failed: u64,
    /// Those that were cancelled.
    pub cancelled: u64,
}

impl Minute {
    /// Its length in microseconds.
    pub const MICROS: i64 = 60_000_000;

    /// The minute that a moment is in.
    pub fn of(at: Timestamp) -> Timestamp {
        Timestamp::from_micros(at.micros().div_euclid(Self::MICROS) * Self::MICROS)
    }
}

/// Runs looked at, for backends that count here.
#[derive(Debug, Default)]
pub struct Sample {
    minutes: BTreeMap<Timestamp, Minute>,
    took: Vec<Duration>,
}

impl Sample {
    /// At most so many runs.
    pub const RUNS: u32 = 20_000;
    /// At most so many runs for statistics of steps.
    pub const RUNS_WITH_STEPS: u32 = 1_000;

    /// Counts a run.
    pub fn add(&mut self, status: RunStatus, began: Timestamp, ended: Option<Timestamp>) {
        let at = Minute::of(began);
        let minute = self.minutes.entry(at).or_insert(Minute { at, ..Minute::default() });
        minute.started += 1;
        match status {
            RunStatus::Started => {}
            RunStatus::Completed => minute.completed += 1,
            RunStatus::Failed => minute.failed += 1,
            RunStatus::Cancelled => minute.cancelled += 1,
        }
        if status == RunStatus::Completed {
            self.took.extend(ended.map(|ended| began.saturating_until(ended)));
        }
    }

    /// What became of the runs counted.
    pub fn activity(self, since: Timestamp, until: Timestamp) -> Activity {
        let [p50, p95] = percentiles(self.took);
        Activity { since, until, minutes: self.minutes.into_values().collect(), p50, p95 }
    }
}

/// Ends of one step, for backends that count here.
#[derive(Debug, Default)]
pub struct Ended {
    counts: [u64; 3],
    took: Vec<Duration>,
}

impl Ended {
    /// Counts a step of a run.
    pub fn add(&mut self, status: StepStatus, began: Option<Timestamp>, ended: Option<Timestamp>) {
        match status {
            StepStatus::Created | StepStatus::Started => {}
            StepStatus::Completed => {
                self.counts[0] += 1;
                let took = began.zip(ended).map(|(began, ended)| began.saturating_until(ended));
                self.took.extend(took);
            }
            StepStatus::Failed => self.counts[1] += 1,
            StepStatus::Skipped => self.counts[2] += 1,
        }
    }

    /// What became of the step in the runs counted.
    pub fn statistics(self, slug: &str) -> StepStatistics {
        let [completed, failed, skipped] = self.counts;
        let [p50, p95] = percentiles(self.took);
        StepStatistics { slug: slug.to_owned(), completed, failed, skipped, p50, p95 }
    }
}

/// The smallest that half, and 95 of 100, are not above: as `percentile_disc` of SQL has it.
fn percentiles(mut took: Vec<Duration>) -> [Option<Duration>; 2] {
    took.sort_unstable();
    let rank = |percent: usize| (took.len() * percent).div_ceil(100).saturating_sub(1);
    [50, 95].map(|percent| took.get(rank(percent)).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_there() {
        let of = |seconds: &[u64]| {
            percentiles(seconds.iter().copied().map(Duration::from_secs).collect())
                .map(|value| value.map(|value| value.as_secs()))
        };
        assert_eq!(of(&[]), [None, None]);
        assert_eq!(of(&[7]), [Some(7), Some(7)]);
        assert_eq!(of(&[4, 1, 3, 2]), [Some(2), Some(4)]);
        let hundred: Vec<_> = (1..=100).collect();
        assert_eq!(of(&hundred), [Some(50), Some(95)]);
    }

    #[test]
    fn a_minute_begins_at_its_first_second() {
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        assert_eq!(Minute::of(at(119)), at(60));
        assert_eq!(Minute::of(at(120)), at(120));
    }
}
