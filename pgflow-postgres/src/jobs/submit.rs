//! Submitting.

use std::collections::BTreeSet;
use std::sync::{MutexGuard, PoisonError};

use pgflow_machine::Limits;
use pgflow_machine::job::{JobProblem, NewJob, Submitted};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::arrays::Columns;
use super::check_caller;
use super::problem::Problem;
use crate::engine::{Lane, Statement};
use crate::error::{translate, unexpected};
use crate::open::Postgres;
use pgflow_backend::backend::BackendError;

/// Moments travel as microseconds.
pub(super) const SUBMIT: &str = "
  select s.outcome
    from pgflow.submit_jobs(
      $1, $2, $3, $4, $5,
      (select array_agg('epoch'::timestamptz + m * interval '1 microsecond' order by n) from unnest($6::int8[]) with ordinality t(m, n)),
      $7,
      (select array_agg('epoch'::timestamptz + m * interval '1 microsecond' order by n) from unnest($8::int8[]) with ordinality t(m, n)),
      $9, $10, $11, $12, $13, $14, $15) s";

type Answer = Result<Submitted, JobProblem>;

impl Postgres {
    pub(super) async fn submit_new(
        &self,
        jobs: &[NewJob],
        by: &str,
    ) -> Result<Vec<Answer>, BackendError> {
        check_caller(by)?;
        let limits = self.job_limits().await?;
        let mut answers: Vec<Answer> =
            jobs.iter().map(|job| job.check(&limits).map(|()| Submitted::Exists)).collect();
        let good: Vec<usize> = (0..jobs.len()).filter(|at| answers[*at].is_ok()).collect();
        let mut left = vec![&good[..]];
        while let Some(part) = left.pop().filter(|part| !part.is_empty()) {
            match self.submit_part(jobs, part, by).await? {
                Ok(outcomes) => {
                    for (at, outcome) in part.iter().zip(outcomes) {
                        answers[*at] = Ok(outcome);
                    }
                    self.ring_for_new(part.iter().map(|at| &jobs[*at]));
                }
                Err(problem) if part.len() == 1 => {
                    answers[part[0]] = Err(problem.about(jobs[part[0]].after.iter()));
                }
                // One of them is at fault: the others are not to suffer from it. The first come first, because
                // others may wait for them.
                Err(_) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    left.extend([second, first]);
                }
            }
        }
        Ok(answers)
    }

    async fn submit_part(
        &self,
        jobs: &[NewJob],
        part: &[usize],
        by: &str,
    ) -> Result<Result<Vec<Submitted>, Problem>, BackendError> {
        let columns = Columns::of(part.iter().map(|at| &jobs[*at]));
        match self.engine.ask(Lane::Client, || statement(&columns, by)).await {
            Ok(rows) => rows.iter().map(outcome).collect::<Result<_, _>>().map(Ok),
            Err(error) => Problem::of(&error).map(Err).ok_or_else(|| translate(error)),
        }
    }

    /// Tells workers of those that can be had at once; the others are found when their time comes.
    pub(super) fn ring_for_new<'a>(&self, jobs: impl Iterator<Item = &'a NewJob>) {
        let at_once = jobs.filter(|job| job.after.is_empty() && job.wake.is_none());
        for need in at_once.map(|job| &job.need).collect::<BTreeSet<_>>() {
            self.bell.ring_need(need);
        }
    }

    /// What payloads may be. The core looks again, in case that has changed.
    pub(crate) async fn job_limits(&self) -> Result<Limits, BackendError> {
        if let Some(known) = *self.known_limits() {
            return Ok(known);
        }
        let limits = self.read_limits().await?;
        *self.known_limits() = Some(limits);
        Ok(limits)
    }

    /// They are not what they were.
    pub(crate) fn forget_job_limits(&self) {
        *self.known_limits() = None;
    }

    fn known_limits(&self) -> MutexGuard<'_, Option<Limits>> {
        self.job_limits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn statement<'q>(columns: &'q Columns<'_>, by: &'q str) -> Statement<'q> {
    columns.bind(sqlx::query(SUBMIT)).bind(by)
}

pub(crate) fn outcome(row: &PgRow) -> Result<Submitted, BackendError> {
    match row.try_get("outcome").map_err(translate)? {
        "submitted" => Ok(Submitted::Submitted),
        "exists" => Ok(Submitted::Exists),
        other => Err(unexpected(format_args!("the outcome `{other}` of a submit"))),
    }
}
