//! Lists of runs.

use pgflow_machine::{RunId, Timestamp};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::batch::all_without_nul;
use super::claim::int;
use super::engine::Lane;
use super::error::translate;
use super::open::Postgres;
use super::read::{count, moment, status};
use pgflow_backend::backend::{BackendError, RunQuery, RunSummary};

const LIST: &str = "select run_id, flow_slug, status, remaining_steps,
       (extract(epoch from started_at) * 1000000)::bigint as started_at,
       (extract(epoch from ended_at) * 1000000)::bigint as ended_at
  from pgflow.list_runs($1, $2, 'epoch'::timestamptz + $3 * interval '1 microsecond', $4, $5,
                        'epoch'::timestamptz + $6 * interval '1 microsecond')";
const STATUSES: &str = "select run_id, flow_slug, status, remaining_steps,
       (extract(epoch from started_at) * 1000000)::bigint as started_at,
       (extract(epoch from ended_at) * 1000000)::bigint as ended_at
  from pgflow.get_run_statuses($1)";
/// What the function returns at most.
const PAGE: usize = 1000;

impl Postgres {
    pub(super) async fn list_runs(
        &self,
        query: &RunQuery,
    ) -> Result<Vec<RunSummary>, BackendError> {
        let mut query = query.clone();
        let mut runs: Vec<RunSummary> = Vec::new();
        while query.max > 0 {
            let page = self.page(&query).await?;
            let is_last = page.len() < PAGE;
            query.max = query.max.saturating_sub(u32::try_from(page.len()).unwrap_or(u32::MAX));
            query.after = page.last().map(|run| (run.started_at, run.id));
            runs.extend(page);
            if is_last {
                break;
            }
        }
        Ok(runs)
    }

    /// How runs are doing.
    pub(super) async fn read_statuses(
        &self,
        runs: &[RunId],
    ) -> Result<Vec<RunSummary>, BackendError> {
        let ids: Vec<Uuid> = runs.iter().map(|run| run.0).collect();
        let statement = || sqlx::query(STATUSES).bind(&ids);
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.iter().map(summary).collect()
    }

    async fn page(&self, query: &RunQuery) -> Result<Vec<RunSummary>, BackendError> {
        let flows = Some(all_without_nul(&query.flows)).filter(|flows| !flows.is_empty());
        let statuses: Vec<_> = query.statuses.iter().map(|status| status.word()).collect();
        let statuses = Some(&statuses).filter(|statuses| !statuses.is_empty());
        let (before, id) = query.after.map(|(moment, run)| (moment.micros(), run.0)).unzip();
        let since = query.since.map(Timestamp::micros);
        let statement = || {
            let statement = sqlx::query(LIST).bind(flows.as_deref()).bind(statuses);
            statement.bind(before).bind(id).bind(int(query.max)).bind(since)
        };
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.iter().map(summary).collect()
    }
}

pub(super) fn summary(row: &PgRow) -> Result<RunSummary, BackendError> {
    Ok(RunSummary {
        id: RunId(row.try_get("run_id").map_err(translate)?),
        flow: row.try_get("flow_slug").map_err(translate)?,
        status: status(row)?,
        remaining_steps: count(row, "remaining_steps")?,
        started_at: moment(row, "started_at")?.unwrap_or_default(),
        ended_at: moment(row, "ended_at")?,
    })
}
