//! Jobs, for people who look after them.

use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{
    Asked, JobId, JobLease, JobOutcome, JobRow, JobState, JobStatus, JobToken, Seq,
};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::batch::without_nul;
use super::claim::int;
use super::error::{translate, unexpected};
use super::open::Postgres;
use super::read::{count, count_if_known, moment};
use pgflow_backend::backend::{
    BackendError, Counted, JobDepths, JobSearch, JobStanding, JobSummary, JobUpkeep, JobsOf, Reply,
    after_all,
};

const DEPTHS: &str = "
  select need, state, jobs, (extract(epoch from first_ready_at) * 1000000)::int8 as first_ready_at,
         (extract(epoch from clock_timestamp()) * 1000000)::int8 as now
    from pgflow.get_job_depths()";

const HOLDERS: &str = "select worker, jobs from pgflow.get_job_holders()";

const PRUNABLE: &str = "select pgflow.count_prunable_jobs($1 * interval '1 microsecond', $2)";

/// Summaries of jobs whose ids a function has found.
macro_rules! summaries {
    ($found:literal) => {
        concat!(
            "select s.id, s.status, s.state, s.seq, s.need, s.priority, s.key, s.waits, s.attempts, s.forgiven, s.failures, s.lapses,
                    s.streak, s.max_attempts, s.worker, s.token, s.error, s.cancel_by, s.cancel_reason,
                    (extract(epoch from s.created_at) * 1000000)::int8 as created_at,
                    (extract(epoch from s.wake_at) * 1000000)::int8 as wake_at,
                    (extract(epoch from s.expires_at) * 1000000)::int8 as expires_at,
                    (extract(epoch from s.lease_until) * 1000000)::int8 as lease_until,
                    (extract(epoch from s.archived_at) * 1000000)::int8 as archived_at,
                    (extract(epoch from s.cancel_at) * 1000000)::int8 as cancel_at
               from pgflow.get_job_summaries(array(select ",
            $found,
            ")) s"
        )
    };
}

const FOUND: &str = summaries!(
    "pgflow.find_jobs($1, $2, $3, $4, $5, timestamptz 'epoch' + $6 * interval '1 microsecond', $7, $8)"
);
const NAMED: &str = summaries!("pgflow.find_jobs_by_name($1, $2, $3)");

/// A hundred years, in microseconds.
const LONGEST: i64 = 3_155_760_000_000_000;

impl JobUpkeep for Postgres {
    fn job_depths(&self) -> Reply<'_, JobDepths> {
        Box::pin(async {
            let mut counted = Counted::default();
            for row in self.look(|| sqlx::query(DEPTHS)).await? {
                add(&mut counted, &row)?;
            }
            for row in self.look(|| sqlx::query(HOLDERS)).await? {
                counted.held(row.try_get("worker").map_err(translate)?, number(&row, "jobs")?);
            }
            Ok(counted.depths())
        })
    }

    fn find_jobs<'a>(&'a self, search: &'a JobSearch) -> Reply<'a, Vec<JobSummary>> {
        Box::pin(async move {
            let outcome = match search.of {
                JobsOf::EndedAs(outcome) => Some(outcome.word()),
                JobsOf::Live | JobsOf::Ended => None,
            };
            let [need, key] = [&search.need, &search.key].map(|it| it.as_deref().map(without_nul));
            let at = search.after.and_then(|after| after.ended_at).map(Timestamp::micros);
            let find = || {
                let find = sqlx::query(FOUND).bind(search.of != JobsOf::Live);
                let find = find.bind(search.state.map(JobState::word)).bind(outcome);
                let find = find.bind(need.as_deref()).bind(key.as_deref()).bind(at);
                find.bind(search.after.map(|after| after.seq)).bind(int(search.max))
            };
            self.look(find).await?.iter().map(summary).collect()
        })
    }

    fn jobs_beginning<'a>(&'a self, beginning: &'a str, max: u32) -> Reply<'a, Vec<JobSummary>> {
        Box::pin(async move {
            let (beginning, until) = (without_nul(beginning), after_all(beginning));
            let until = until.as_deref().map(without_nul);
            let find = || {
                let find = sqlx::query(NAMED).bind(&*beginning).bind(until.as_deref());
                find.bind(int(max))
            };
            self.look(find).await?.iter().map(summary).collect()
        })
    }

    fn prunable_jobs(&self, older_than: Duration, max: u64) -> Reply<'_, u64> {
        Box::pin(async move {
            let micros = i64::try_from(older_than.as_micros()).unwrap_or(LONGEST).min(LONGEST);
            let max = i64::try_from(max).unwrap_or(i64::MAX);
            let rows = self.look(|| sqlx::query(PRUNABLE).bind(micros).bind(max)).await?;
            Ok(rows[0].try_get::<i64, _>(0).map_err(translate)?.unsigned_abs())
        })
    }
}

fn number(row: &PgRow, column: &str) -> Result<u64, BackendError> {
    Ok(row.try_get::<i64, _>(column).map_err(translate)?.unsigned_abs())
}

fn add(counted: &mut Counted, row: &PgRow) -> Result<(), BackendError> {
    let need: String = row.try_get("need").map_err(translate)?;
    counted.add(need.clone(), state(row)?, number(row, "jobs")?);
    if let (Some(since), Some(now)) = (moment(row, "first_ready_at")?, moment(row, "now")?) {
        counted.first_ready(need, since, now);
    }
    Ok(())
}

/// Here a job can also be marked as crashed or cancelled: that ends with the next sweep, like one that expired.
fn state(row: &PgRow) -> Result<JobState, BackendError> {
    let word: Option<&str> = row.try_get("state").map_err(translate)?;
    Ok(word.map_or(JobState::Ready, |word| JobState::from_word(word).unwrap_or(JobState::Expired)))
}

fn summary(row: &PgRow) -> Result<JobSummary, BackendError> {
    let id: String = row.try_get("id").map_err(translate)?;
    Ok(JobSummary {
        id: JobId::from_stored(id),
        standing: standing(row.try_get("status").map_err(translate)?)?,
        row: job_row(row)?,
        error: row.try_get("error").map_err(translate)?,
        ended_at: moment(row, "archived_at")?,
    })
}

/// A status or an outcome: no word is both.
fn standing(word: &str) -> Result<JobStanding, BackendError> {
    let live = JobStatus::from_word(word).map(JobStanding::Live);
    let found = live.or_else(|| JobOutcome::from_word(word).map(JobStanding::Ended));
    found.ok_or_else(|| unexpected(format_args!("the status `{word}` of a job")))
}

fn job_row(row: &PgRow) -> Result<JobRow, BackendError> {
    Ok(JobRow {
        seq: Seq::Given(row.try_get("seq").map_err(translate)?),
        need: row.try_get("need").map_err(translate)?,
        priority: row.try_get("priority").map_err(translate)?,
        state: state(row)?,
        wake_at: moment(row, "wake_at")?,
        waits: count(row, "waits")?,
        key: row.try_get("key").map_err(translate)?,
        expires_at: moment(row, "expires_at")?,
        attempts: count(row, "attempts")?,
        forgiven: count(row, "forgiven")?,
        failures: count(row, "failures")?,
        lapses: count(row, "lapses")?,
        streak: count(row, "streak")?,
        max_attempts: count_if_known(row, "max_attempts")?,
        cancel: cancel(row)?,
        lease: lease(row)?,
        // Lists do not say how leases ended.
        settled: None,
        created_at: moment(row, "created_at")?.unwrap_or_default(),
    })
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
