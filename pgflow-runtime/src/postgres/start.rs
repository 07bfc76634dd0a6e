//! Starting runs.

use pgflow_machine::PayloadError;
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use super::engine::{Lane, Statement};
use super::error::{code, is_about, translate};
use super::open::Postgres;
use crate::backend::{BackendError, NewRun, Parts, Reply, Started};
use crate::start_in::{StartIn, check_transaction};

const START_IN: &str = "select flow_slug, created from pgflow.start_run($1, $2, $3)";
/// A transaction of the application's that has started a run of the same id, and is still open, is waited for, but
/// not for long at once: other calls want the connection.
const START: &str = "
  with patience as materialized (select set_config('lock_timeout', '1000', true) as ms)
  select s.flow_slug, s.created
    from patience p
    cross join lateral pgflow.start_run($1, $2, case when p.ms is not null then $3 end) s";

fn statement<'a>(sql: &'static str, run: &'a NewRun) -> Statement<'a> {
    sqlx::query(sql).bind(&run.flow).bind(&run.input).bind(run.id.0)
}

impl Postgres {
    pub(super) async fn start_run(&self, run: &NewRun) -> Result<Started, BackendError> {
        let rows = match self.engine.ask(Lane::Client, || statement(START, run)).await {
            Ok(rows) => rows,
            Err(error) => return Err(self.why_not_started(run, error).await),
        };
        self.note_start(run, &rows[0])
    }

    /// What became of a start, told to those who wait for it.
    pub(super) fn note_start(&self, run: &NewRun, row: &PgRow) -> Result<Started, BackendError> {
        let flow: &str = row.try_get("flow_slug").map_err(translate)?;
        let started = started(row)?;
        let flow = self.routes.learn(run.id, flow);
        if started == Started::Created {
            self.bell.ring(&flow);
        }
        Ok(started)
    }

    async fn why_not_started(&self, run: &NewRun, error: sqlx::Error) -> BackendError {
        if is_about(&error, "runs_pkey")
            && let Ok(Some(found)) = self.read_run(run.id, Parts::Run).await
        {
            return BackendError::OtherFlow { run: run.id, flow: found.flow };
        }
        why_not_started(run, error)
    }
}

impl StartIn for PgConnection {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        Box::pin(async move {
            check_transaction(self)?;
            match statement(START_IN, &run).fetch_one(self).await {
                Ok(row) => started(&row),
                Err(error) => Err(why_not_started(&run, error)),
            }
        })
    }
}

fn started(row: &PgRow) -> Result<Started, BackendError> {
    let created: bool = row.try_get("created").map_err(translate)?;
    Ok(if created { Started::Created } else { Started::Existing })
}

fn why_not_started(run: &NewRun, error: sqlx::Error) -> BackendError {
    if is_about(&error, "runs_flow_slug_fkey") {
        return BackendError::UnknownFlow { flow: run.flow.clone() };
    }
    let text = error.as_database_error().map_or("", |error| error.message());
    if is_about(&error, "runs_pkey")
        && let Some(flow) = text.split('"').nth(1)
    {
        return BackendError::OtherFlow { run: run.id, flow: flow.to_owned() };
    }
    let what = "the run's input".to_owned();
    match code(&error).as_deref() {
        Some("P0001") if text.contains("has root map steps but") => {
            BackendError::NotAnArray { flow: run.flow.clone(), found: kind(&run.input) }
        }
        Some("22P05") => match pgflow_machine::check_payload(&run.input, &any()) {
            Err(source) => BackendError::Payload { what, source },
            Ok(()) => translate(error),
        },
        Some("54000") => match too_much(text) {
            Some(source) => BackendError::Payload { what, source },
            None => translate(error),
        },
        _ => translate(error),
    }
}

/// No limits, to find only what can never be stored.
fn any() -> pgflow_machine::Limits {
    pgflow_machine::Limits { max_bytes: usize::MAX, max_depth: usize::MAX, max_fanout: usize::MAX }
}

/// The figures are in the message: `… has 5000000 bytes, the limit is 4194304`.
fn too_much(text: &str) -> Option<PayloadError> {
    let words = || text.split(|c: char| !c.is_ascii_digit());
    let mut numbers = words().filter_map(|word| word.parse::<usize>().ok());
    if text.contains("too deep") {
        let limit = numbers.next()?;
        return Some(PayloadError::TooDeep { path: "$".to_owned(), limit });
    }
    let (found, limit) = (numbers.next()?, numbers.next()?);
    Some(if text.contains(" bytes") {
        PayloadError::TooLarge { bytes: found, limit }
    } else {
        PayloadError::TooWide { elements: found, limit }
    })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
