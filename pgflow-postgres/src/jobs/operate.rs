//! What people do.

use std::time::Duration;

use pgflow_machine::cut_error;
use pgflow_machine::job::{
    ConcernCleared, HandOver, JobCancelled, JobId, JobOutcome, JobProblem, JobStatus, Operated,
    Redrive, Redriven, Unheld,
};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;

use super::arrays::{Edges, moment};
use super::check_caller;
use super::problem::Problem;
use super::ready::ready_needs;
use crate::batch::without_nul;
use crate::claim::int;
use crate::engine::Lane;
use crate::error::{translate, unexpected};
use crate::open::Postgres;
use pgflow_backend::backend::{BackendError, JobStanding};

const CANCEL: &str =
    concat!("select outcome, ended_as, ", ready_needs!(), " from pgflow.cancel_jobs($1, $2, $3)");
const CLEAR: &str =
    concat!("select outcome, ", ready_needs!(), " from pgflow.clear_concern($1, worker => $2)");
const REDRIVE: &str = concat!(
    "select outcome, ended_as, ",
    ready_needs!(),
    " from pgflow.redrive_jobs($1, max_jobs => cardinality($1), rate => $2, worker => $3)"
);
const COMPLETE: &str = concat!(
    "select outcome, status, null::jsonb as problem, ",
    ready_needs!(),
    " from pgflow.complete_unheld_jobs(array[$1], array[$2], $3)"
);
const RESCHEDULE: &str = concat!(
    "select outcome, status, problem, ",
    ready_needs!(),
    " from pgflow.reschedule_unheld_jobs(
      array[$1], array[$2], array[$3], array['epoch'::timestamptz + $4 * interval '1 microsecond'], array[$5], array[$6],
      $7, $8, $9, $10, $11)"
);

impl Postgres {
    pub(super) async fn cancel_all(
        &self,
        jobs: &[JobId],
        by: &str,
        reason: Option<&str>,
    ) -> Result<Vec<JobCancelled>, BackendError> {
        check_caller(by)?;
        let reason = reason.map(|reason| without_nul(cut_error(reason)));
        let ids = names(jobs);
        let statement = || sqlx::query(CANCEL).bind(&ids).bind(reason.as_deref()).bind(by);
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        self.ring_for_ready(&rows)?;
        self.wake_after(&rows).await;
        rows.iter().map(cancelled).collect()
    }

    pub(super) async fn clear(
        &self,
        jobs: &[JobId],
        by: &str,
    ) -> Result<Vec<ConcernCleared>, BackendError> {
        check_caller(by)?;
        let ids = names(jobs);
        let statement = || sqlx::query(CLEAR).bind(&ids).bind(by);
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        self.ring_for_ready(&rows)?;
        let cleared = |row: &PgRow| match row.try_get("outcome").map_err(translate)? {
            "cleared" => Ok(ConcernCleared::Cleared),
            "no_concern" => Ok(ConcernCleared::NoConcern),
            "unknown" => Ok(ConcernCleared::Unknown),
            other => Err(strange(other)),
        };
        rows.iter().map(cleared).collect()
    }

    pub(super) async fn redrive(
        &self,
        jobs: &[JobId],
        by: &str,
        spacing: Duration,
    ) -> Result<Vec<Redriven>, BackendError> {
        check_caller(by)?;
        Redrive { jobs, by, spacing }.check()?;
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let (ids, rate) = (names(jobs), (!spacing.is_zero()).then(|| 1.0 / spacing.as_secs_f64()));
        let statement = || sqlx::query(REDRIVE).bind(&ids).bind(rate).bind(by);
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        self.ring_for_ready(&rows)?;
        rows.iter().map(redriven).collect()
    }

    pub(super) async fn operate_on(
        &self,
        job: &JobId,
        by: &str,
        act: &Unheld,
    ) -> Result<Operated, BackendError> {
        check_caller(by)?;
        let limits = self.job_limits().await?;
        let checked = match act {
            Unheld::Complete(output) => pgflow_machine::check_payload(output, &limits)
                .map_err(|source| JobProblem::Payload { what: "the job's output", source }),
            Unheld::Reschedule(to) => to.check(job, &limits),
        };
        if let Err(problem) = checked {
            return self.refuse(job, problem).await;
        }
        let answer = match act {
            Unheld::Complete(output) => self.complete_by_hand(job, by, output).await,
            Unheld::Reschedule(to) => self.reschedule_by_hand(job, by, to).await,
        };
        let after = match act {
            Unheld::Complete(_) => &[][..],
            Unheld::Reschedule(to) => &to.after,
        };
        match answer {
            Ok(rows) => {
                self.ring_for_ready(&rows)?;
                operated(&rows[0], after)
            }
            Err(error) => match Problem::of(&error) {
                Some(problem) => self.refuse(job, problem.about(after.iter())).await,
                None => Err(translate(error)),
            },
        }
    }

    async fn complete_by_hand(
        &self,
        job: &JobId,
        by: &str,
        output: &Value,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let statement = || sqlx::query(COMPLETE).bind(job.as_str()).bind(Json(output)).bind(by);
        self.engine.ask(Lane::Client, statement).await
    }

    async fn reschedule_by_hand(
        &self,
        job: &JobId,
        by: &str,
        to: &HandOver,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let (wake_at, delay) = moment(to.wake);
        let mut edges = Edges::default();
        edges.push(0, &to.after);
        let statement = || {
            let moved = sqlx::query(RESCHEDULE)
                .bind(job.as_str())
                .bind(&to.need)
                .bind(to.payload.as_ref().map(Json))
                .bind(wake_at)
                .bind(delay)
                .bind(to.max_attempts.map(int));
            edges.bind(moved).bind(by)
        };
        self.engine.ask(Lane::Client, statement).await
    }

    /// What can't be is said only of a job that could be touched.
    async fn refuse(&self, job: &JobId, problem: JobProblem) -> Result<Operated, BackendError> {
        let found = self.read_standings(std::slice::from_ref(job)).await?;
        Ok(match found.first().map(|(_, standing)| *standing) {
            None | Some(JobStanding::Ended(_)) => Operated::Unknown,
            Some(JobStanding::Live(
                JobStatus::Ready | JobStatus::CrashConcern | JobStatus::Expired,
            )) => Operated::Refused(problem),
            Some(JobStanding::Live(status)) => Operated::NotAllowed(status),
        })
    }
}

fn names(jobs: &[JobId]) -> Vec<&str> {
    jobs.iter().map(JobId::as_str).collect()
}

fn strange(outcome: &str) -> BackendError {
    unexpected(format_args!("the outcome `{outcome}` about a job"))
}

fn ended_as(row: &PgRow) -> Result<Option<JobOutcome>, BackendError> {
    let word: Option<&str> = row.try_get("ended_as").map_err(translate)?;
    Ok(word.and_then(JobOutcome::from_word))
}

fn cancelled(row: &PgRow) -> Result<JobCancelled, BackendError> {
    match (row.try_get("outcome").map_err(translate)?, ended_as(row)?) {
        ("cancelled", _) => Ok(JobCancelled::Cancelled),
        ("asked", _) => Ok(JobCancelled::Asked),
        ("ended", Some(outcome)) => Ok(JobCancelled::Ended(outcome)),
        ("unknown", _) => Ok(JobCancelled::Unknown),
        (other, _) => Err(strange(other)),
    }
}

fn redriven(row: &PgRow) -> Result<Redriven, BackendError> {
    match (row.try_get("outcome").map_err(translate)?, ended_as(row)?) {
        ("redriven", _) => Ok(Redriven::Redriven),
        ("live", _) => Ok(Redriven::Live),
        ("not_redrivable", Some(outcome)) => Ok(Redriven::Ended(outcome)),
        ("unknown", _) => Ok(Redriven::Unknown),
        (other, _) => Err(strange(other)),
    }
}

fn operated(row: &PgRow, after: &[pgflow_machine::job::Wait]) -> Result<Operated, BackendError> {
    let status: Option<&str> = row.try_get("status").map_err(translate)?;
    let problem = Problem::read(row.try_get("problem").map_err(translate)?);
    match row.try_get("outcome").map_err(translate)? {
        "applied" => Ok(Operated::Applied),
        "refused" => match (problem, status.and_then(JobStatus::from_word)) {
            (Some(problem), _) => Ok(Operated::Refused(problem.about(after.iter()))),
            (None, Some(status)) => Ok(Operated::NotAllowed(status)),
            (None, None) => Err(strange("refused")),
        },
        "already_settled" | "unknown" => Ok(Operated::Unknown),
        other => Err(strange(other)),
    }
}
