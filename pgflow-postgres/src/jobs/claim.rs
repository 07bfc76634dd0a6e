//! Taking jobs, and keeping them.

use std::time::Duration;

use pgflow_machine::job::{
    BeatJobs, JobBeat, JobClaim, JobHold, JobId, JobLease, JobRow, JobState, JobToken, Lapses, Seq,
    TakenJob,
};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::arrays::seconds;
use super::ready::ready_needs;
use super::row::{moment, required};
use super::settle::holds;
use crate::claim::int;
use crate::engine::Lane;
use crate::error::{translate, unexpected};
use crate::open::Postgres;
use pgflow_backend::backend::{BackendError, ClaimedJob, ClaimedJobs, JobsSwept};

/// Jobs that a sweep does at once.
const BATCH: i32 = 1000;

/// Also says when the next may be had, if there were not enough.
const CLAIM: &str = "
  with claimed as materialized (select * from pgflow.claim_jobs($1, $2, $3, $4)),
       next as materialized (select pgflow.next_job($2) as next_in where (select count(*) from claimed) < $4)
  select c.id, c.need, c.payload, c.token, c.attempt, c.priority, c.key, c.failures, c.lapses, c.streak, c.max_attempts,
         c.seq, c.forgiven, n.next_in, (extract(epoch from c.lease_until) * 1000000)::int8 as lease_until,
         (extract(epoch from c.created_at) * 1000000)::int8 as created_at,
         (extract(epoch from c.expires_at) * 1000000)::int8 as expires_at
    from (select) o left join claimed c on true left join next n on true";

const BEAT: &str = "select outcome from pgflow.beat_jobs($1, $2, $3)";

const RELEASE_UNKNOWN: &str = "select pgflow.release_unknown_jobs($1, $2, $3) as released";

const SWEEP: &str = concat!(
    "select lapsed, concerns, ended, expired, ",
    ready_needs!(),
    ", nullif(current_setting('pgflow.job_rings', true), '')::text[] as rings,
       nullif(current_setting('pgflow.jobs_in_concern', true), '')::text[] as in_concern from pgflow.sweep_jobs('sweep', $1)"
);

impl Postgres {
    pub(super) async fn take_jobs(&self, claim: &JobClaim) -> Result<ClaimedJobs, BackendError> {
        claim.check()?;
        let statement = || {
            let claimed = sqlx::query(CLAIM).bind(&claim.worker).bind(&claim.needs);
            claimed.bind(seconds(claim.lease)).bind(int(claim.max))
        };
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        let next = rows.first().map(|row| row.try_get::<Option<f64>, _>("next_in"));
        let next = next.transpose().map_err(translate)?.flatten();
        let jobs = rows.iter().filter_map(|row| claimed(row, &claim.worker).transpose());
        Ok(ClaimedJobs {
            jobs: jobs.collect::<Result<_, _>>()?,
            next_in: next.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        })
    }

    pub(super) async fn beat_for_jobs(
        &self,
        held: &[JobHold],
        lease: Duration,
    ) -> Result<Vec<JobBeat>, BackendError> {
        BeatJobs { holds: held, lease }.check()?;
        let (ids, tokens) = holds(held.iter());
        let statement = || sqlx::query(BEAT).bind(&ids).bind(&tokens).bind(seconds(lease));
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        rows.iter().map(beat).collect()
    }

    pub(super) async fn give_back_unknown(
        &self,
        worker: &str,
        known: &[JobHold],
    ) -> Result<u64, BackendError> {
        let (ids, tokens) = holds(known.iter());
        let statement = || sqlx::query(RELEASE_UNKNOWN).bind(worker).bind(&ids).bind(&tokens);
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        let released: i32 = rows[0].try_get("released").map_err(translate)?;
        Ok(u64::from(released.unsigned_abs()))
    }

    pub(super) async fn sweep_all_jobs(&self) -> Result<JobsSwept, BackendError> {
        let mut swept = JobsSwept::default();
        loop {
            let statement = || sqlx::query(SWEEP).bind(BATCH);
            let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
            self.ring_for_ready(&rows)?;
            self.wake_after(&rows).await;
            let count = |column| -> Result<u64, BackendError> {
                let count: i32 = rows[0].try_get(column).map_err(translate)?;
                Ok(u64::from(count.unsigned_abs()))
            };
            let (lapsed, ended) = (count("lapsed")?, count("ended")?);
            swept.lapses += Lapses { lapsed, concerns: count("concerns")?, ended };
            swept.expired += count("expired")?;
            swept.rings = noted(&rows[0], "rings")?;
            swept.in_concern = noted(&rows[0], "in_concern")?;
            if lapsed.max(ended).max(count("expired")?) < u64::from(BATCH.unsigned_abs()) {
                return Ok(swept);
            }
        }
    }
}

/// Jobs that the sweep has noted: those that wait for themselves, or are in concern.
fn noted(row: &PgRow, column: &str) -> Result<Vec<JobId>, BackendError> {
    let jobs: Option<Vec<String>> = row.try_get(column).map_err(translate)?;
    Ok(jobs.unwrap_or_default().into_iter().map(JobId::from_stored).collect())
}

fn beat(row: &PgRow) -> Result<JobBeat, BackendError> {
    match row.try_get("outcome").map_err(translate)? {
        "extended" => Ok(JobBeat::Extended),
        "lost" => Ok(JobBeat::Lost),
        "cancelled" => Ok(JobBeat::Cancelled),
        other => Err(unexpected(format_args!("the outcome `{other}` of a heartbeat"))),
    }
}

/// Nothing if the row only says when to look again.
pub(crate) fn claimed(row: &PgRow, worker: &str) -> Result<Option<ClaimedJob>, BackendError> {
    let Some(id) = row.try_get::<Option<String>, _>("id").map_err(translate)? else {
        return Ok(None);
    };
    let count = |column| -> Result<u32, BackendError> {
        Ok(row.try_get::<i32, _>(column).map_err(translate)?.unsigned_abs())
    };
    let token = JobToken(row.try_get("token").map_err(translate)?);
    let until = required(row, "lease_until")?;
    let max_attempts: Option<i32> = row.try_get("max_attempts").map_err(translate)?;
    let job_row = JobRow {
        seq: Seq::Given(row.try_get("seq").map_err(translate)?),
        need: row.try_get("need").map_err(translate)?,
        priority: row.try_get("priority").map_err(translate)?,
        state: JobState::Leased,
        wake_at: None,
        waits: 0,
        key: row.try_get("key").map_err(translate)?,
        expires_at: moment(row, "expires_at")?,
        attempts: count("attempt")?,
        forgiven: count("forgiven")?,
        failures: count("failures")?,
        lapses: count("lapses")?,
        streak: count("streak")?,
        max_attempts: max_attempts.map(i32::unsigned_abs),
        cancel: None,
        lease: Some(JobLease { token: token.clone(), until, worker: worker.to_owned() }),
        settled: None,
        created_at: required(row, "created_at")?,
    };
    let hold = JobHold { job: JobId::from_stored(id), token };
    let payload = row.try_get("payload").map_err(translate)?;
    Ok(Some(ClaimedJob { taken: TakenJob { hold, row: job_row, until }, payload }))
}
