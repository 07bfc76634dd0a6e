//! Jobs as `get_jobs` and `get_job_summaries` return them.

use pgflow_machine::Timestamp;
use pgflow_machine::job::{
    Asked, Dependency, JobId, JobLease, JobOutcome, JobRow, JobState, JobStatus, JobToken, Policy,
    Seq, Wait,
};
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::error::{translate, unexpected};
pub(super) use crate::read::moment;
use pgflow_backend::backend::{BackendError, JobStanding, JobSummary};

/// Columns of both that [`summary`] reads, besides `settled`, which lists do not have.
macro_rules! summary_columns {
    () => {
        "g.id, g.status, g.need, g.priority, g.key, g.waits, g.attempts, g.failures, g.lapses, g.streak, g.max_attempts, g.worker,
         g.error, g.cancel_by, g.cancel_reason, g.seq, g.state, g.forgiven, g.token,
         (extract(epoch from g.created_at) * 1000000)::int8 as created_at, (extract(epoch from g.wake_at) * 1000000)::int8 as wake_at,
         (extract(epoch from g.expires_at) * 1000000)::int8 as expires_at, (extract(epoch from g.lease_until) * 1000000)::int8 as lease_until,
         (extract(epoch from g.archived_at) * 1000000)::int8 as archived_at, (extract(epoch from g.cancel_at) * 1000000)::int8 as cancel_at"
    };
}
pub(crate) use summary_columns;

/// A moment that is always there.
pub(super) fn required(row: &PgRow, column: &str) -> Result<Timestamp, BackendError> {
    moment(row, column)?.ok_or_else(|| unexpected(format_args!("no {column}")))
}

pub(crate) fn summary(row: &PgRow) -> Result<JobSummary, BackendError> {
    let id: String = row.try_get("id").map_err(translate)?;
    let standing = standing(row.try_get("status").map_err(translate)?)?;
    Ok(JobSummary {
        id: JobId::from_stored(id),
        standing,
        row: job_row(row)?,
        error: row.try_get("error").map_err(translate)?,
        ended_at: moment(row, "archived_at")?,
    })
}

/// A status or an outcome: no word is both.
pub(super) fn standing(word: &str) -> Result<JobStanding, BackendError> {
    let live = JobStatus::from_word(word).map(JobStanding::Live);
    let found = live.or_else(|| JobOutcome::from_word(word).map(JobStanding::Ended));
    found.ok_or_else(|| unexpected(format_args!("the status `{word}` of a job")))
}

fn job_row(row: &PgRow) -> Result<JobRow, BackendError> {
    let count = |column| -> Result<u32, BackendError> {
        Ok(row.try_get::<i32, _>(column).map_err(translate)?.unsigned_abs())
    };
    let max_attempts: Option<i32> = row.try_get("max_attempts").map_err(translate)?;
    let settled: Option<String> = row.try_get("settled").map_err(translate)?;
    Ok(JobRow {
        seq: Seq::Given(row.try_get("seq").map_err(translate)?),
        need: row.try_get("need").map_err(translate)?,
        priority: row.try_get("priority").map_err(translate)?,
        state: job_state(row)?,
        wake_at: moment(row, "wake_at")?,
        waits: count("waits")?,
        key: row.try_get("key").map_err(translate)?,
        expires_at: moment(row, "expires_at")?,
        attempts: count("attempts")?,
        forgiven: count("forgiven")?,
        failures: count("failures")?,
        lapses: count("lapses")?,
        streak: count("streak")?,
        max_attempts: max_attempts.map(i32::unsigned_abs),
        cancel: cancel(row)?,
        lease: lease(row)?,
        settled: settled.map(JobToken),
        created_at: required(row, "created_at")?,
    })
}

/// Here a job can also be marked as crashed or cancelled: that ends with the next sweep, like one that expired.
pub(crate) fn job_state(row: &PgRow) -> Result<JobState, BackendError> {
    let word: Option<&str> = row.try_get("state").map_err(translate)?;
    Ok(word.map_or(JobState::Ready, |word| JobState::from_word(word).unwrap_or(JobState::Expired)))
}

fn cancel(row: &PgRow) -> Result<Option<Asked>, BackendError> {
    let Some(at) = moment(row, "cancel_at")? else { return Ok(None) };
    let by: Option<String> = row.try_get("cancel_by").map_err(translate)?;
    let reason = row.try_get("cancel_reason").map_err(translate)?;
    Ok(Some(Asked { by: by.unwrap_or_default(), at, reason }))
}

fn lease(row: &PgRow) -> Result<Option<JobLease>, BackendError> {
    let token: Option<String> = row.try_get("token").map_err(translate)?;
    let worker: Option<String> = row.try_get("worker").map_err(translate)?;
    let lease = |(token, until)| JobLease {
        token: JobToken(token),
        until,
        worker: worker.unwrap_or_default(),
    };
    Ok(token.zip(moment(row, "lease_until")?).map(lease))
}

/// What a live job waits for.
pub(super) fn waits(row: &PgRow) -> Result<Vec<Wait>, BackendError> {
    let column = |name| -> Result<Vec<String>, BackendError> {
        Ok(row.try_get::<Option<_>, _>(name).map_err(translate)?.unwrap_or_default())
    };
    let edges = column("edge_kinds")?.into_iter().zip(column("dependencies")?);
    let wait = |((kind, name), policy): ((String, String), String)| {
        let on = Dependency::from_stored(&kind, name);
        let wait = on.zip(Policy::from_word(&policy)).map(|(on, policy)| Wait { on, policy });
        wait.ok_or_else(|| unexpected(format_args!("an edge to a {kind}")))
    };
    edges.zip(column("policies")?).map(wait).collect()
}
