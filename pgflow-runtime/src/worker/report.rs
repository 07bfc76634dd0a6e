//! What a worker did until it stopped.

use std::process::ExitCode;

use pgflow_machine::{Settled, Until, Verdict};

/// What a worker did until it stopped.
///
/// ```
/// use std::process::ExitCode;
///
/// let report = pgflow::worker::WorkerReport::default();
/// assert!(report.is_clean());
/// assert_eq!(format!("{:?}", report.exit_code()), format!("{:?}", ExitCode::SUCCESS));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerReport {
    /// Results that were recorded, failures included.
    pub settled: u64,
    /// Results that were refused: another worker had the task by then, or the run had ended.
    pub superseded: u64,
    /// Tasks that were given back, without using up an attempt.
    pub released: u64,
    /// Results and tasks that could neither be recorded nor given back. Their leases run out, and another
    /// worker takes them. A claim whose answer got lost counts as one.
    pub lost: u64,
}

impl WorkerReport {
    /// Whether everything was recorded or given back.
    pub fn is_clean(&self) -> bool {
        self.lost == 0
    }

    /// What `main` returns: success if the worker stopped [cleanly](Self::is_clean).
    pub fn exit_code(&self) -> ExitCode {
        if self.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    pub(super) fn count(&mut self, verdict: &Verdict, outcome: Settled) {
        match (outcome, verdict) {
            (
                Settled::Applied,
                Verdict::Released | Verdict::Yielded { until: Until::After(_), .. },
            ) => self.released += 1,
            (Settled::Applied | Settled::AlreadySettled, _) => self.settled += 1,
            (Settled::Fenced | Settled::RunEnded | Settled::Unknown, _) => self.superseded += 1,
        }
    }
}

impl std::fmt::Display for WorkerReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { settled, superseded, released, lost } = self;
        write!(f, "{settled} settled, {superseded} superseded, {released} released, {lost} lost")
    }
}
