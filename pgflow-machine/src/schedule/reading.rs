//! Reading a row that somebody, or a later version of this library, may have changed.

use serde::de::DeserializeOwned;

use super::{Schedule, ScheduleStatus};

/// Reads what a row says. What nobody can read makes that schedule broken, and hides no others.
///
/// ```
/// use pgflow_machine::Timestamp;
/// use pgflow_machine::schedule::{Missed, Reading, Schedule, ScheduleSpec, ScheduleStatus};
///
/// let mut reading = Reading::default();
/// let missed: Missed = reading.word("policy", "all(0)", "all(0)".parse().ok());
/// let spec = ScheduleSpec { missed, ..ScheduleSpec::new("report", "@daily") };
/// let schedule = reading.finish(Schedule::new("nightly", spec, Timestamp::from_micros(0)));
/// assert_eq!(schedule.status, ScheduleStatus::Broken);
/// assert!(schedule.error.unwrap().starts_with("there is no policy `all(0)`"));
/// ```
#[derive(Debug, Default)]
pub struct Reading {
    problem: Option<String>,
}

impl Reading {
    /// A word that stands for one of several things.
    pub fn word<T: Default>(&mut self, what: &str, word: &str, read: Option<T>) -> T {
        read.unwrap_or_else(|| self.miss(format!("there is no {what} `{word}`")))
    }

    /// A text that is JSON.
    pub fn json<T: Default + DeserializeOwned>(&mut self, what: &str, text: &str) -> T {
        serde_json::from_str(text).unwrap_or_else(|error| self.miss(format!("its {what}: {error}")))
    }

    /// The first problem is the one that is told.
    fn miss<T: Default>(&mut self, problem: String) -> T {
        self.problem.get_or_insert(problem);
        T::default()
    }

    /// The schedule, broken if anything of it could not be read.
    pub fn finish(self, schedule: Schedule) -> Schedule {
        let Some(problem) = self.problem else { return schedule };
        Schedule {
            status: ScheduleStatus::Broken,
            error: Some(format!("{problem}; was the database edited by hand?")),
            is_unreadable: true,
            ..schedule
        }
    }
}
