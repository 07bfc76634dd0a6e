//! Jobs, for people who look after them.

use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{JobId, JobState};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::batch::without_nul;
use super::claim::int;
use super::error::translate;
use super::jobs::{job_state, summary, summary_columns};
use super::open::Postgres;
use super::read::moment;
use pgflow_backend::backend::{
    BackendError, Counted, JobDepths, JobSearch, JobSummary, JobUpkeep, JobsOf, PausedNeed, Reply,
    after_all,
};

const DEPTHS: &str = "
  select need, state, jobs, first_ready, (extract(epoch from first_ready_at) * 1000000)::int8 as first_ready_at,
         (extract(epoch from clock_timestamp()) * 1000000)::int8 as now
    from pgflow.count_jobs($1)";

const HOLDERS: &str = "select worker, jobs from pgflow.get_job_holders()";

const WAITERS: &str = "select id, waiter from pgflow.get_job_waiters($1)";

const PRUNABLE: &str = "select pgflow.count_prunable_jobs($1 * interval '1 microsecond', $2)";

const PAUSE: &str = "select pgflow.pause_needs($1, $2)";
const RESUME: &str = "select pgflow.resume_needs($1)";
const PAUSED: &str = "
  select need, (extract(epoch from paused_at) * 1000000)::int8 as paused_at, paused_by
    from pgflow.list_paused_needs()";

/// Summaries of jobs whose ids a function has found.
macro_rules! summaries {
    ($found:literal) => {
        concat!(
            "select ",
            summary_columns!(),
            ", null::text as settled from pgflow.get_job_summaries(array(select ",
            $found,
            ")) g"
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
    fn job_depths(&self, most: u64) -> Reply<'_, JobDepths> {
        Box::pin(async move {
            let mut counted = Counted::default();
            let limit = i64::try_from(most).unwrap_or(i64::MAX);
            for row in self.look(|| sqlx::query(DEPTHS).bind(limit)).await? {
                add(&mut counted, &row)?;
            }
            for row in self.look(|| sqlx::query(HOLDERS)).await? {
                counted.held(row.try_get("worker").map_err(translate)?, number(&row, "jobs")?);
            }
            Ok(counted.depths(most))
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

    fn job_waiters<'a>(&'a self, jobs: &'a [JobId]) -> Reply<'a, Vec<(JobId, JobId)>> {
        Box::pin(async move {
            let ids: Vec<_> = jobs.iter().map(JobId::as_str).collect();
            let rows = self.look(|| sqlx::query(WAITERS).bind(&ids)).await?;
            let name = |row: &PgRow, column| -> Result<JobId, BackendError> {
                Ok(JobId::from_stored(row.try_get::<String, _>(column).map_err(translate)?))
            };
            rows.iter().map(|row| Ok((name(row, "id")?, name(row, "waiter")?))).collect()
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

    fn pause_needs<'a>(&'a self, needs: &'a [String], by: &'a str) -> Reply<'a, u64> {
        Box::pin(async move {
            PausedNeed::check(needs, Some(by))?;
            changed(&self.look(|| sqlx::query(PAUSE).bind(needs).bind(by)).await?)
        })
    }

    fn resume_needs<'a>(&'a self, needs: &'a [String]) -> Reply<'a, u64> {
        Box::pin(async move {
            PausedNeed::check(needs, None)?;
            let rows = self.look(|| sqlx::query(RESUME).bind(needs)).await?;
            for need in needs {
                self.bell.ring_need(need);
            }
            changed(&rows)
        })
    }

    fn paused_needs(&self) -> Reply<'_, Vec<PausedNeed>> {
        Box::pin(async move {
            let rows = self.look(|| sqlx::query(PAUSED)).await?;
            rows.iter().map(paused).collect()
        })
    }
}

/// How many needs a call has changed.
fn changed(rows: &[PgRow]) -> Result<u64, BackendError> {
    Ok(rows[0].try_get::<i32, _>(0).map_err(translate)?.unsigned_abs().into())
}

fn paused(row: &PgRow) -> Result<PausedNeed, BackendError> {
    Ok(PausedNeed {
        need: row.try_get("need").map_err(translate)?,
        since: moment(row, "paused_at")?.unwrap_or_default(),
        by: row.try_get("paused_by").map_err(translate)?,
    })
}

fn number(row: &PgRow, column: &str) -> Result<u64, BackendError> {
    Ok(row.try_get::<i64, _>(column).map_err(translate)?.unsigned_abs())
}

fn add(counted: &mut Counted, row: &PgRow) -> Result<(), BackendError> {
    let need: String = row.try_get("need").map_err(translate)?;
    counted.add(need.clone(), job_state(row)?, number(row, "jobs")?);
    if let (Some(since), Some(now)) = (moment(row, "first_ready_at")?, moment(row, "now")?) {
        let first: String = row.try_get("first_ready").map_err(translate)?;
        counted.first_ready(need, JobId::from_stored(first), since, now);
    }
    Ok(())
}
