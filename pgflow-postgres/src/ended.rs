//! Runs that a statement has ended.

use pgflow_machine::{RunId, RunStatus};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::error::{translate, unexpected};
use pgflow_backend::backend::{BackendError, EndedRun};

/// A row about such a run; the columns of its status and error differ.
pub(super) fn ended(row: &PgRow, status: &str, error: &str) -> Result<EndedRun, BackendError> {
    let word: &str = row.try_get(status).map_err(translate)?;
    let status = RunStatus::from_word(word)
        .ok_or_else(|| unexpected(format_args!("the status `{word}`")))?;
    Ok(EndedRun { status, ..failed(row, error)? })
}

/// As [`ended`], of a run that has failed.
pub(super) fn failed(row: &PgRow, error: &str) -> Result<EndedRun, BackendError> {
    let error: Option<Value> = row.try_get(error).map_err(translate)?;
    Ok(EndedRun {
        run: RunId(row.try_get("run_id").map_err(translate)?),
        flow: row.try_get("flow_slug").map_err(translate)?,
        status: RunStatus::Failed,
        error: error.as_ref().and_then(Value::as_str).map(str::to_owned),
    })
}
