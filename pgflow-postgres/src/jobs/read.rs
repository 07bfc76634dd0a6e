//! Jobs, read for people; what all of them go by; what is forgotten.

use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{JobId, JobSettings, JobToken, TraceKind};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::row::{standing, summary, summary_columns, waits};
use crate::batch::without_nul;
use crate::claim::int;
use crate::engine::Lane;
use crate::error::translate;
use crate::open::Postgres;
use pgflow_backend::backend::{
    BackendError, JobEvent, JobQuery, JobRecord, JobStanding, JobSummary, JobsOf,
};

const JOB: &str = concat!(
    "select ",
    summary_columns!(),
    ", g.settled, g.payload, g.output, g.edge_kinds, g.dependencies, g.policies from pgflow.get_jobs(array[$1]) g"
);

const LIST: &str = concat!(
    "select ",
    summary_columns!(),
    ", g.settled from pgflow.get_jobs(array(select pgflow.list_jobs($1, $2, $3, $4, $5))) g
     where g.archived_at is null or $1 order by g.seq"
);

const STANDINGS: &str = "select id, status from pgflow.get_job_summaries($1)";

const TRACE: &str = "
  select trace_id, (extract(epoch from at) * 1000000)::int8 as at, kind, worker, token, detail
    from pgflow.read_job_trace($1, $2, $3)";

const TRACE_END: &str = "
  select trace_id, (extract(epoch from at) * 1000000)::int8 as at, kind, worker, token, detail
    from pgflow.read_job_trace_end($1, $2)";

const SETTINGS: &str = "select trace, crash_threshold from pgflow.get_job_settings()";

const CHANGE: &str = "select pgflow.set_job_settings(trace => $1, crash_threshold => $2)";

const PRUNE: &str = "select pgflow.prune_jobs($1 * interval '1 microsecond', $2)";

/// A hundred years, in microseconds.
const LONGEST: i64 = 3_155_760_000_000_000;

impl Postgres {
    pub(super) async fn read_job(&self, id: &JobId) -> Result<Option<JobRecord>, BackendError> {
        let statement = || sqlx::query(JOB).bind(id.as_str());
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.first().map(record).transpose()
    }

    pub(super) async fn read_standings(
        &self,
        ids: &[JobId],
    ) -> Result<Vec<(JobId, JobStanding)>, BackendError> {
        let ids: Vec<_> = ids.iter().map(JobId::as_str).collect();
        let statement = || sqlx::query(STANDINGS).bind(&ids);
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        let stands = |row: &PgRow| {
            let id: String = row.try_get("id").map_err(translate)?;
            let word = row.try_get("status").map_err(translate)?;
            Ok((JobId::from_stored(id), standing(word)?))
        };
        rows.iter().map(stands).collect()
    }

    pub(super) async fn list_summaries(
        &self,
        query: &JobQuery,
    ) -> Result<Vec<JobSummary>, BackendError> {
        let (ended, outcome) = match query.of {
            JobsOf::Live => (false, None),
            JobsOf::Ended => (true, None),
            JobsOf::EndedAs(outcome) => (true, Some(outcome.word())),
        };
        let need = query.need.as_deref().map(without_nul);
        let statement = || {
            let list = sqlx::query(LIST).bind(ended).bind(outcome).bind(need.as_deref());
            list.bind(query.after).bind(int(query.max))
        };
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.iter().map(summary).collect()
    }

    pub(super) async fn read_trace(
        &self,
        id: &JobId,
        after: u64,
        max: u32,
    ) -> Result<Vec<JobEvent>, BackendError> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let statement = || sqlx::query(TRACE).bind(id.as_str()).bind(after).bind(int(max));
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.iter().filter_map(|row| event(row).transpose()).collect()
    }

    pub(super) async fn read_trace_end(
        &self,
        id: &JobId,
        max: u32,
    ) -> Result<Vec<JobEvent>, BackendError> {
        let statement = || sqlx::query(TRACE_END).bind(id.as_str()).bind(int(max));
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.iter().filter_map(|row| event(row).transpose()).collect()
    }

    pub(super) async fn read_settings(&self) -> Result<JobSettings, BackendError> {
        let rows = self.engine.ask(Lane::Client, || sqlx::query(SETTINGS)).await;
        let rows = rows.map_err(translate)?;
        let threshold: i32 = rows[0].try_get("crash_threshold").map_err(translate)?;
        let trace = rows[0].try_get("trace").map_err(translate)?;
        Ok(JobSettings { trace, crash_threshold: threshold.unsigned_abs() })
    }

    pub(super) async fn change_settings(&self, settings: JobSettings) -> Result<(), BackendError> {
        settings.check()?;
        let threshold = int(settings.crash_threshold);
        let statement = || sqlx::query(CHANGE).bind(settings.trace).bind(threshold);
        self.engine.ask(Lane::Client, statement).await.map(drop).map_err(translate)
    }

    pub(super) async fn forget_jobs(
        &self,
        older_than: Duration,
        max: u32,
    ) -> Result<u64, BackendError> {
        if max == 0 {
            return Ok(0);
        }
        let micros = i64::try_from(older_than.as_micros()).unwrap_or(LONGEST).min(LONGEST);
        let statement = || sqlx::query(PRUNE).bind(micros).bind(int(max));
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        Ok(rows[0].try_get::<i64, _>(0).map_err(translate)?.unsigned_abs())
    }
}

fn record(row: &PgRow) -> Result<JobRecord, BackendError> {
    Ok(JobRecord {
        summary: summary(row)?,
        payload: row.try_get("payload").map_err(translate)?,
        output: row.try_get("output").map_err(translate)?,
        waits_for: waits(row)?,
    })
}

/// Nothing for what only clients of pgwf want to know.
fn event(row: &PgRow) -> Result<Option<JobEvent>, BackendError> {
    let kind = TraceKind::from_word(row.try_get("kind").map_err(translate)?);
    let Some(kind) = kind else { return Ok(None) };
    let number: i64 = row.try_get("trace_id").map_err(translate)?;
    let token: Option<String> = row.try_get("token").map_err(translate)?;
    Ok(Some(JobEvent {
        number: number.unsigned_abs(),
        at: Timestamp::from_micros(row.try_get("at").map_err(translate)?),
        kind,
        by: row.try_get("worker").map_err(translate)?,
        token: token.map(JobToken),
        detail: row.try_get("detail").map_err(translate)?,
    }))
}
