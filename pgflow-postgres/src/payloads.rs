//! Single payloads, read.

use pgflow_machine::RunId;
use serde_json::Value;
use sqlx::Row;

use super::batch::without_nul;
use super::claim::int;
use super::engine::Lane;
use super::error::{translate, unexpected};
use super::open::Postgres;
use pgflow_backend::backend::BackendError;

const INPUT: &str = "select pgflow.get_run_input($1)";
const OUTPUTS: &str = "select output from pgflow.get_step_outputs($1, $2, $3, $4)";
/// Bytes of a page of an output that is read whole.
const PAGE: u32 = 4 << 20;

impl Postgres {
    /// What a run was given. A worker asks, for tasks that wait for it.
    pub(super) async fn read_input(&self, run: RunId) -> Result<Option<Value>, BackendError> {
        let statement = || sqlx::query(INPUT).bind(run.0);
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        rows.first().map_or(Ok(None), |row| row.try_get(0)).map_err(translate)
    }

    /// A page of what the tasks of a completed step put out.
    pub(super) async fn read_outputs(
        &self,
        lane: Lane,
        run: RunId,
        step: &str,
        (first, bytes): (u32, u32),
    ) -> Result<Vec<Value>, BackendError> {
        let (first, bytes) = (int(first), int(bytes));
        let step = without_nul(step);
        let statement = || sqlx::query(OUTPUTS).bind(run.0).bind(&*step).bind(first).bind(bytes);
        let rows = self.engine.ask(lane, statement).await.map_err(translate)?;
        let output = |row: &sqlx::postgres::PgRow| {
            let text: &str = row.try_get(0).map_err(translate)?;
            serde_json::from_str(text).map_err(|why| unexpected(format_args!("an output: {why}")))
        };
        rows.iter().map(output).collect()
    }
    /// What a completed step put out, page by page.
    pub(super) async fn whole_output(
        &self,
        lane: Lane,
        run: RunId,
        step: &str,
        is_map: bool,
    ) -> Result<Value, BackendError> {
        if !is_map {
            return Ok(self
                .read_outputs(lane, run, step, (0, PAGE))
                .await?
                .pop()
                .unwrap_or_default());
        }
        let mut elements = Vec::new();
        loop {
            let first = u32::try_from(elements.len()).unwrap_or(u32::MAX);
            let page = self.read_outputs(lane, run, step, (first, PAGE)).await?;
            if page.is_empty() {
                return Ok(Value::Array(elements));
            }
            elements.extend(page);
        }
    }
}
