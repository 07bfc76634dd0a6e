//! What functions about jobs take, as arrays: an element per job.

use std::collections::BTreeSet;
use std::time::Duration;

use pgflow_machine::job::{LONGEST, Moment, NewJob, Wait};
use serde_json::Value;
use sqlx::types::Json;

use crate::claim::int;
use crate::engine::Statement;

/// A moment as the core takes it: microseconds since 1970, or milliseconds from now.
pub(super) fn moment(moment: Option<Moment>) -> (Option<i64>, Option<i64>) {
    match moment {
        None => (None, None),
        Some(Moment::At(at)) => (Some(at.micros()), None),
        Some(Moment::In(span)) => (None, Some(span_of(span))),
    }
}

/// Milliseconds, rounded up, so that nothing wakes early. What is too long was refused before.
pub(super) fn span_of(span: Duration) -> i64 {
    i64::try_from(span.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

/// How long a lease lasts, in seconds.
pub(crate) fn seconds(lease: Duration) -> f64 {
    lease.as_secs_f64().min(LONGEST.as_secs_f64())
}

/// What jobs wait for, with the position of each job, counted from 1.
#[derive(Default)]
pub(super) struct Edges {
    jobs: Vec<i32>,
    kinds: Vec<&'static str>,
    names: Vec<String>,
    policies: Vec<&'static str>,
}

impl Edges {
    /// Each dependency once: the first counts.
    pub(super) fn push(&mut self, job: usize, waits: &[Wait]) {
        let mut seen = BTreeSet::new();
        for wait in waits.iter().filter(|wait| seen.insert(&wait.on)) {
            self.jobs.push(i32::try_from(job + 1).unwrap_or(i32::MAX));
            self.kinds.push(wait.on.kind());
            self.names.push(wait.on.name());
            self.policies.push(wait.policy.word());
        }
    }

    /// Jobs, kinds, names, policies; nothing rather than empty, which is cheaper.
    pub(super) fn bind<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        let is_some = !self.jobs.is_empty();
        statement
            .bind(is_some.then_some(&self.jobs))
            .bind(is_some.then_some(&self.kinds))
            .bind(is_some.then_some(&self.names))
            .bind(is_some.then_some(&self.policies))
    }
}

/// New jobs as columns.
#[derive(Default)]
pub(crate) struct Columns<'a> {
    ids: Vec<&'a str>,
    needs: Vec<&'a str>,
    payloads: Vec<Json<&'a Value>>,
    priorities: Vec<i32>,
    keys: Vec<Option<&'a str>>,
    wake_ats: Vec<Option<i64>>,
    delays: Vec<Option<i64>>,
    expires_ats: Vec<Option<i64>>,
    lifetimes: Vec<Option<i64>>,
    max_attempts: Vec<Option<i32>>,
    edges: Edges,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(jobs: impl IntoIterator<Item = &'a NewJob>) -> Self {
        let mut columns = Self::default();
        for (at, job) in jobs.into_iter().enumerate() {
            columns.push(at, job);
        }
        columns
    }

    fn push(&mut self, at: usize, job: &'a NewJob) {
        let (wake_at, delay) = moment(job.wake);
        let (expires_at, lifetime) = moment(job.expires);
        self.ids.push(job.id.as_str());
        self.needs.push(&job.need);
        self.payloads.push(Json(&job.payload));
        self.priorities.push(job.priority);
        self.keys.push(job.key.as_deref());
        self.wake_ats.push(wake_at);
        self.delays.push(delay);
        self.expires_ats.push(expires_at);
        self.lifetimes.push(lifetime);
        self.max_attempts.push(job.max_attempts.map(int));
        self.edges.push(at, &job.after);
    }

    /// The fourteen parameters of `submit_jobs` before the caller's name; of those that say nothing, nothing.
    pub(super) fn bind<'q>(&'q self, statement: Statement<'q>) -> Statement<'q> {
        let statement = statement
            .bind(&self.ids)
            .bind(&self.needs)
            .bind(&self.payloads)
            .bind(said(&self.priorities, |priority| *priority != 0))
            .bind(said(&self.keys, Option::is_some))
            .bind(said(&self.wake_ats, Option::is_some))
            .bind(said(&self.delays, Option::is_some))
            .bind(said(&self.expires_ats, Option::is_some))
            .bind(said(&self.lifetimes, Option::is_some))
            .bind(said(&self.max_attempts, Option::is_some));
        self.edges.bind(statement)
    }
}

/// A column, unless it says nothing about any job.
pub(super) fn said<T>(column: &Vec<T>, says: impl Fn(&T) -> bool) -> Option<&Vec<T>> {
    column.iter().any(says).then_some(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_rounded_up() {
        assert_eq!(span_of(Duration::ZERO), 0);
        assert_eq!(span_of(Duration::from_nanos(1)), 1);
        assert_eq!(span_of(Duration::from_millis(7)), 7);
    }

    #[test]
    fn a_dependency_that_is_named_twice_is_one_edge() {
        let wait = Wait::job("a".parse().expect("an id"));
        let mut edges = Edges::default();
        edges.push(3, &[wait.clone(), wait]);
        assert_eq!((edges.jobs, edges.names), (vec![4], vec!["a".to_owned()]));
    }
}
