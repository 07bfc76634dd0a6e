//! Runs, from the outside.

use pgflow_machine::{RunId, RunStatus, SkipReason, StepStatus, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;

use super::batch::without_nul;
use super::engine::Lane;
use super::error::{code, translate, unexpected};
use super::open::Postgres;
use crate::backend::{BackendError, Cancelled, Parts, Retried, RunRecord, StepRecord};

/// The state and the steps come from one function, which whoever may start runs may call.
const RUN: &str = "select run.flow_slug, run.status, run.input, run.output, run.remaining_steps, run.cancel_reason,
       (extract(epoch from run.started_at) * 1000000)::bigint as started_at,
       (extract(epoch from coalesce(run.completed_at, run.failed_at, run.cancelled_at)) * 1000000)::bigint as ended_at,
       case when $2 then (
         select coalesce(jsonb_agg(case when $3 then s.state else s.state - 'output' end order by d.step_index), '[]')
           from jsonb_array_elements(found -> 'steps') s(state)
           join pgflow.steps d on d.flow_slug = run.flow_slug and d.step_slug = s.state ->> 'step_slug'
       ) else '[]' end as steps
  from pgflow.get_run_with_states($1) found
 cross join lateral jsonb_populate_record(null::pgflow.runs, found -> 'run') run
 where found is not null";
/// A run that this very transaction cancelled was cancelled at its time.
const CANCEL: &str =
    "select run.flow_slug, run.status, coalesce(run.cancelled_at >= now(), false) as is_new
   from pgflow.cancel_run($1, $2) run";
const RETRY: &str = "select flow_slug, status from pgflow.retry_run($1)";

impl Postgres {
    pub(super) async fn read_run(
        &self,
        id: RunId,
        parts: Parts,
    ) -> Result<Option<RunRecord>, BackendError> {
        let (steps, outputs) = (parts != Parts::Run, parts == Parts::Outputs);
        let statement = || sqlx::query(RUN).bind(id.0).bind(steps).bind(outputs);
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.first().map(|row| record(id, row, outputs)).transpose()
    }

    pub(super) async fn cancel_run(
        &self,
        id: RunId,
        reason: Option<&str>,
    ) -> Result<Cancelled, BackendError> {
        let reason = reason.map(without_nul);
        let statement = || sqlx::query(CANCEL).bind(id.0).bind(reason.as_deref());
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        let Some(row) = rows.first() else { return Ok(Cancelled::Unknown) };
        let status = status(row)?;
        if !row.try_get("is_new").map_err(translate)? {
            return Ok(Cancelled::Ended(status));
        }
        self.ring_for_run(id, row)?;
        Ok(Cancelled::Cancelled)
    }

    pub(super) async fn retry_run(&self, id: RunId) -> Result<Retried, BackendError> {
        let statement = || sqlx::query(RETRY).bind(id.0);
        match self.engine.ask(Lane::Client, statement).await {
            Ok(rows) => {
                self.ring_for_run(id, &rows[0])?;
                Ok(Retried::Retried)
            }
            Err(error) if code(&error).as_deref() == Some("P0002") => Ok(Retried::Unknown),
            Err(error) if code(&error).as_deref() == Some("55000") => {
                let run = self.read_run(id, Parts::Run).await?;
                Ok(run.map_or(Retried::Unknown, |run| Retried::NotFailed(run.status)))
            }
            Err(error) => Err(translate(error)),
        }
    }

    fn ring_for_run(&self, id: RunId, row: &PgRow) -> Result<(), BackendError> {
        let flow: &str = row.try_get("flow_slug").map_err(translate)?;
        self.bell.ring(&self.routes.learn(id, flow));
        Ok(())
    }
}

pub(super) fn status(row: &PgRow) -> Result<RunStatus, BackendError> {
    let word: &str = row.try_get("status").map_err(translate)?;
    RunStatus::from_word(word).ok_or_else(|| unexpected(format_args!("a run that is `{word}`")))
}

/// A moment, from microseconds.
pub(super) fn moment(row: &PgRow, column: &str) -> Result<Option<Timestamp>, BackendError> {
    let micros: Option<i64> = row.try_get(column).map_err(translate)?;
    Ok(micros.map(Timestamp::from_micros))
}

pub(super) fn count(row: &PgRow, column: &str) -> Result<u32, BackendError> {
    row.try_get::<i32, _>(column).map(i32::unsigned_abs).map_err(translate)
}

fn record(id: RunId, row: &PgRow, outputs: bool) -> Result<RunRecord, BackendError> {
    let Json(steps): Json<Vec<Step>> = row.try_get("steps").map_err(translate)?;
    Ok(RunRecord {
        id,
        flow: row.try_get("flow_slug").map_err(translate)?,
        status: status(row)?,
        // JSON's null comes out as SQL's.
        input: row.try_get::<Option<Value>, _>("input").map_err(translate)?.unwrap_or_default(),
        output: row.try_get("output").map_err(translate)?,
        remaining_steps: count(row, "remaining_steps")?,
        started_at: moment(row, "started_at")?.unwrap_or_default(),
        ended_at: moment(row, "ended_at")?,
        cancel_reason: row.try_get("cancel_reason").map_err(translate)?,
        steps: steps.into_iter().map(|step| step.record(outputs)).collect(),
    })
}

/// A row of `step_states` as JSON.
#[derive(Deserialize)]
struct Step {
    #[serde(rename = "step_slug")]
    slug: String,
    status: StepStatus,
    remaining_deps: u32,
    initial_tasks: Option<u32>,
    remaining_tasks: Option<u32>,
    #[serde(default)]
    output: Value,
    error_message: Option<String>,
    skip_reason: Option<SkipReason>,
}

impl Step {
    fn record(self, outputs: bool) -> StepRecord {
        let has_output = outputs && self.status == StepStatus::Completed;
        StepRecord {
            slug: self.slug,
            status: self.status,
            remaining_deps: self.remaining_deps,
            tasks: self.initial_tasks,
            remaining_tasks: self.remaining_tasks,
            output: has_output.then_some(self.output),
            error: self.error_message,
            skip_reason: self.skip_reason,
        }
    }
}
