//! Settles as the arrays that the core takes.

use std::borrow::Cow;
use std::time::Duration;

use pgflow_machine::{Retry, Settle, TaskLease, Until, Verdict};
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use super::claim::int;
use super::engine::Statement;
use super::waits::WaitColumns;

/// Leases as columns.
#[derive(Default)]
pub(super) struct Leases<'a> {
    runs: Vec<Uuid>,
    steps: Vec<&'a str>,
    indexes: Vec<i32>,
    attempts: Vec<i32>,
}

impl<'a> Leases<'a> {
    pub(super) fn push(&mut self, lease: &'a TaskLease) {
        self.runs.push(lease.task.run.0);
        self.steps.push(&lease.task.step);
        self.indexes.push(int(lease.task.index));
        self.attempts.push(int(lease.attempt));
    }

    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    fn bind_keys<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        statement.bind(&self.runs).bind(&self.steps).bind(&self.indexes)
    }

    /// Run, step, index, attempt.
    pub(super) fn bind<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        self.bind_keys(statement).bind(&self.attempts)
    }
}

/// Completions as columns.
#[derive(Default)]
pub(super) struct Completions<'a> {
    pub(super) leases: Leases<'a>,
    outputs: Vec<Json<&'a Value>>,
}

impl<'a> Completions<'a> {
    pub(super) fn push(&mut self, lease: &'a TaskLease, output: &'a Value) {
        self.leases.push(lease);
        self.outputs.push(Json(output));
    }

    /// Run, step, index, output, attempt.
    pub(super) fn bind<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        self.leases.bind_keys(statement).bind(&self.outputs).bind(&self.leases.attempts)
    }
}

/// Failures as columns.
#[derive(Default)]
pub(super) struct Failures<'a> {
    pub(super) leases: Leases<'a>,
    errors: Vec<Cow<'a, str>>,
    delays: Vec<Option<i32>>,
    fatal: Vec<bool>,
}

impl<'a> Failures<'a> {
    pub(super) fn push(
        &mut self,
        lease: &'a TaskLease,
        error: impl Into<Cow<'a, str>>,
        retry: Retry,
    ) {
        self.leases.push(lease);
        self.errors.push(match error.into() {
            Cow::Borrowed(error) => without_nul(error),
            Cow::Owned(error) => without_nul(&error).into_owned().into(),
        });
        self.delays.push(match retry {
            Retry::After(delay) => Some(whole_seconds(delay)),
            Retry::ByPolicy | Retry::Never => None,
        });
        self.fatal.push(retry == Retry::Never);
    }

    /// Run, step, index, error, attempt, delay, fatal.
    pub(super) fn bind<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        let statement = self.leases.bind_keys(statement).bind(&self.errors);
        statement.bind(&self.leases.attempts).bind(&self.delays).bind(&self.fatal)
    }
}

/// Tasks that are given back, as columns.
#[derive(Default)]
pub(super) struct Releases<'a> {
    pub(super) leases: Leases<'a>,
    delays: Vec<Option<i32>>,
    reasons: Vec<Option<Cow<'a, str>>>,
}

impl<'a> Releases<'a> {
    fn push(&mut self, lease: &'a TaskLease, yielded: Option<(Duration, &'a String)>) {
        self.leases.push(lease);
        self.delays.push(yielded.map(|(after, _)| whole_seconds(after)));
        self.reasons.push(yielded.map(|(_, reason)| without_nul(reason)));
    }

    /// Run, step, index, attempt, delay, reason.
    pub(super) fn bind<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        self.leases.bind(statement).bind(&self.delays).bind(&self.reasons)
    }
}

/// A batch, by what is asked for; with the positions in it that the outcomes are for.
#[derive(Default)]
pub(super) struct Batch<'a> {
    pub(super) completions: Completions<'a>,
    pub(super) failures: Failures<'a>,
    pub(super) releases: Releases<'a>,
    pub(super) waits: WaitColumns<'a>,
    completed: Vec<usize>,
    failed: Vec<usize>,
    released: Vec<usize>,
    waited: Vec<usize>,
}

impl<'a> Batch<'a> {
    /// Of these positions, in this order.
    pub(super) fn new(settles: &'a [Settle], positions: &[usize]) -> Self {
        let mut batch = Self::default();
        for &position in positions {
            batch.push(position, &settles[position]);
        }
        batch
    }

    fn push(&mut self, position: usize, Settle { lease, verdict }: &'a Settle) {
        let Some(lease) = lease.task() else { return };
        match verdict {
            Verdict::Completed(output) => {
                self.completions.push(lease, output);
                self.completed.push(position);
            }
            Verdict::Failed { error, retry } => {
                self.failures.push(lease, error, *retry);
                self.failed.push(position);
            }
            Verdict::Released | Verdict::Job(_) | Verdict::Messages(_) => {
                self.releases.push(lease, None);
                self.released.push(position);
            }
            Verdict::Yielded { until: Until::Met(wait), .. } => {
                match self.waits.push(lease, wait) {
                    Ok(()) => self.waited.push(position),
                    Err(error) => {
                        self.failures.push(lease, error, Retry::ByPolicy);
                        self.failed.push(position);
                    }
                }
            }
            Verdict::Yielded { until: Until::After(delay), reason } => {
                self.releases.push(lease, Some((*delay, reason)));
                self.released.push(position);
            }
        }
    }

    /// Positions of completions and failures, in the order of their outcomes.
    pub(super) fn settled(&self) -> impl Iterator<Item = usize> {
        self.completed.iter().chain(&self.failed).copied()
    }

    /// Positions of releases.
    pub(super) fn released(&self) -> impl Iterator<Item = usize> {
        self.released.iter().copied()
    }

    /// Positions of waits.
    pub(super) fn waited(&self) -> impl Iterator<Item = usize> {
        self.waited.iter().copied()
    }

    pub(super) fn settles_any(&self) -> bool {
        self.completed.len() + self.failed.len() > 0
    }
}

/// Texts of Postgres can't hold the character NUL, and a failure must always be recorded.
pub(super) fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

/// The same of several.
pub(super) fn all_without_nul<T: AsRef<str>>(texts: &[T]) -> Vec<Cow<'_, str>> {
    texts.iter().map(|text| without_nul(text.as_ref())).collect()
}

fn whole_seconds(delay: Duration) -> i32 {
    i32::try_from(pgflow_machine::whole_seconds(delay)).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_rounded_up() {
        assert_eq!(whole_seconds(Duration::ZERO), 0);
        assert_eq!(whole_seconds(Duration::from_millis(1)), 1);
        assert_eq!(whole_seconds(Duration::from_secs(7)), 7);
        assert_eq!(whole_seconds(Duration::MAX), i32::MAX);
    }
}
