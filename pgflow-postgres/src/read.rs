//! Runs, read: no more of them than is asked for, and what is large in pieces.

use pgflow_machine::{RunId, RunStatus, SkipReason, StepStatus, Timestamp, WorkerId};
use serde_json::{Map, Value};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::engine::Lane;
use super::error::{translate, unexpected};
use super::open::Postgres;
use pgflow_backend::backend::{BackendError, Parts, RunRecord, StepRecord, StepWork};

const RUN: &str =
    "select flow_slug, status, input, output, remaining_steps, cancel_reason, is_large,
       (extract(epoch from started_at) * 1000000)::bigint as started_at,
       (extract(epoch from ended_at) * 1000000)::bigint as ended_at
  from pgflow.get_run($1, $2)";
const STEPS: &str = "select *, (extract(epoch from next_at) * 1000000)::bigint as next_at_micros
  from pgflow.get_run_steps($1, $2)";

impl Postgres {
    pub(super) async fn read_run(
        &self,
        id: RunId,
        parts: Parts,
    ) -> Result<Option<RunRecord>, BackendError> {
        let payloads = parts != Parts::Steps;
        let statement = || sqlx::query(RUN).bind(id.0).bind(payloads);
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        let Some(row) = rows.first() else { return Ok(None) };
        let mut record = record(id, row, payloads)?;
        let is_large = payloads && row.try_get("is_large").map_err(translate)?;
        if parts == Parts::Run && !is_large {
            return Ok(Some(record));
        }
        let mut steps = self.read_steps(id, parts == Parts::Outputs).await?;
        for step in &mut steps {
            let is_asked = parts == Parts::Outputs || (is_large && step.is_leaf);
            if is_asked && step.is_large {
                step.record.output = Some(self.output_of(id, &step.record).await?);
            }
        }
        if is_large {
            record.output = Some(self.output_of_leaves(id, &steps).await?);
        }
        if parts != Parts::Run {
            record.steps = steps.into_iter().map(|step| step.record).collect();
        }
        Ok(Some(record))
    }

    async fn read_steps(&self, id: RunId, outputs: bool) -> Result<Vec<Step>, BackendError> {
        let statement = || sqlx::query(STEPS).bind(id.0).bind(outputs);
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        rows.iter().map(|row| step(row, outputs)).collect()
    }

    /// The run's output, as the database would put it together from that of its leaves.
    async fn output_of_leaves(&self, id: RunId, steps: &[Step]) -> Result<Value, BackendError> {
        let is_one = |step: &&Step| step.is_leaf && step.record.status == StepStatus::Completed;
        let mut outputs = Map::new();
        for step in steps.iter().filter(is_one) {
            let output = match &step.record.output {
                Some(output) => output.clone(),
                None => self.output_of(id, &step.record).await?,
            };
            outputs.insert(step.record.slug.clone(), output);
        }
        Ok(Value::Object(outputs))
    }

    async fn output_of(&self, id: RunId, step: &StepRecord) -> Result<Value, BackendError> {
        self.whole_output(Lane::Client, id, &step.slug, step.is_map).await
    }
}

/// A step, and where its output is.
struct Step {
    record: StepRecord,
    is_leaf: bool,
    /// Whether its output is to be read in pieces.
    is_large: bool,
}

pub(super) fn status(row: &PgRow) -> Result<RunStatus, BackendError> {
    word(row, "status", RunStatus::from_word)
}

/// A word of an enum.
pub(super) fn word<T>(
    row: &PgRow,
    column: &str,
    known: impl FnOnce(&str) -> Option<T>,
) -> Result<T, BackendError> {
    let word: &str = row.try_get(column).map_err(translate)?;
    known(word).ok_or_else(|| unexpected(format_args!("the {column} `{word}`")))
}

/// A moment, from microseconds.
pub(super) fn moment(row: &PgRow, column: &str) -> Result<Option<Timestamp>, BackendError> {
    let micros: Option<i64> = row.try_get(column).map_err(translate)?;
    Ok(micros.map(Timestamp::from_micros))
}

pub(super) fn count(row: &PgRow, column: &str) -> Result<u32, BackendError> {
    row.try_get::<i32, _>(column).map(i32::unsigned_abs).map_err(translate)
}

pub(super) fn count_if_known(row: &PgRow, column: &str) -> Result<Option<u32>, BackendError> {
    let count: Option<i32> = row.try_get(column).map_err(translate)?;
    Ok(count.map(i32::unsigned_abs))
}

/// A payload that is there. JSON's null comes out as SQL's.
fn payload(row: &PgRow, column: &str) -> Result<Value, BackendError> {
    row.try_get::<Option<Value>, _>(column).map(Option::unwrap_or_default).map_err(translate)
}

fn record(id: RunId, row: &PgRow, payloads: bool) -> Result<RunRecord, BackendError> {
    Ok(RunRecord {
        id,
        flow: row.try_get("flow_slug").map_err(translate)?,
        status: status(row)?,
        input: payloads.then(|| payload(row, "input")).transpose()?,
        output: row.try_get("output").map_err(translate)?,
        remaining_steps: count(row, "remaining_steps")?,
        started_at: moment(row, "started_at")?.unwrap_or_default(),
        ended_at: moment(row, "ended_at")?,
        cancel_reason: row.try_get("cancel_reason").map_err(translate)?,
        steps: Vec::new(),
    })
}

/// What the tasks of a started step are doing, if somebody looked.
fn work(row: &PgRow) -> Result<Option<StepWork>, BackendError> {
    let Some(attempts) = count_if_known(row, "attempts")? else { return Ok(None) };
    let worker: Option<Uuid> = row.try_get("worker_id").map_err(translate)?;
    Ok(Some(StepWork {
        attempts,
        running: count(row, "running")?,
        worker: worker.map(WorkerId),
        last_error: row.try_get("last_error").map_err(translate)?,
        yielded: row.try_get("yield_reason").map_err(translate)?,
        next_at: moment(row, "next_at_micros")?,
    }))
}

fn step(row: &PgRow, outputs: bool) -> Result<Step, BackendError> {
    let kind: &str = row.try_get("step_type").map_err(translate)?;
    let reason: Option<&str> = row.try_get("skip_reason").map_err(translate)?;
    let reason = reason.map(|_| word(row, "skip_reason", SkipReason::from_word)).transpose()?;
    let status = word(row, "status", StepStatus::from_word)?;
    let is_large: bool = row.try_get("is_large").map_err(translate)?;
    let is_here = outputs && status == StepStatus::Completed && !is_large;
    let record = StepRecord {
        slug: row.try_get("step_slug").map_err(translate)?,
        is_map: kind == "map",
        status,
        remaining_deps: count(row, "remaining_deps")?,
        tasks: count_if_known(row, "initial_tasks")?,
        remaining_tasks: count_if_known(row, "remaining_tasks")?,
        output: is_here.then(|| payload(row, "output")).transpose()?,
        error: row.try_get("error_message").map_err(translate)?,
        skip_reason: reason,
        work: work(row)?,
    };
    Ok(Step { record, is_leaf: row.try_get("is_leaf").map_err(translate)?, is_large })
}
