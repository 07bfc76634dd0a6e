//! Messages and permits: rows in, rows out.

mod check;
mod look;
mod push_in;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use pgflow_backend::backend::{Hold, MessageRow, TaskHold};
use pgflow_backend::store::{PipelineSession, Stored};
use pgflow_machine::Timestamp;
use pgflow_machine::job::{JobId, JobToken};
use pgflow_machine::permit::{PermitKey, PermitKind, Place, Waiting};
use serde_json::Value;

pub(super) use check::INVARIANTS;
pub use push_in::push_in;
pub(super) use write::drop_task_holds;

use super::session::{Conn, SqliteSession};

/// Rows as a parameter.
fn parameter(rows: impl IntoIterator<Item = Value>) -> String {
    Value::Array(rows.into_iter().collect()).to_string()
}

impl<C: Conn> PipelineSession for SqliteSession<C> {
    async fn load_permits(
        &mut self,
        keys: &BTreeSet<PermitKey>,
    ) -> Stored<BTreeMap<PermitKey, Value>> {
        Ok(look::permits(self, keys).await?)
    }

    async fn message(&mut self, id: &JobId) -> Stored<Option<MessageRow>> {
        Ok(look::kept(self, id).await?)
    }

    async fn drop_turns(&mut self, queue: &str, max: u32) -> Stored<u64> {
        Ok(write::drop_turns(self, queue, max).await?)
    }

    async fn permits_of(&mut self, kind: PermitKind) -> Stored<BTreeMap<String, Value>> {
        Ok(look::permits_of(self, kind).await?)
    }

    async fn write_permits(&mut self, rows: &BTreeMap<PermitKey, Value>) -> Stored<()> {
        Ok(write::permits(self, rows).await?)
    }

    async fn load_holds(&mut self, resources: &BTreeSet<String>) -> Stored<Vec<Hold>> {
        Ok(look::holds(self, resources).await?)
    }

    async fn add_holds(&mut self, holds: &[Hold]) -> Stored<()> {
        Ok(write::add_holds(self, holds).await?)
    }

    async fn add_task_holds(&mut self, holds: &[TaskHold]) -> Stored<()> {
        Ok(write::add_task_holds(self, holds).await?)
    }

    async fn drop_holds(&mut self, tokens: &[JobToken]) -> Stored<BTreeSet<String>> {
        Ok(write::drop_holds(self, tokens).await?)
    }

    async fn waiting(
        &mut self,
        need: &str,
        after: Option<(i32, i64)>,
        max: u32,
    ) -> Stored<Vec<Waiting>> {
        Ok(look::waiting(self, need, after, max).await?)
    }

    async fn waiting_of(
        &mut self,
        need: &str,
        keys: &[String],
        after: Option<Place>,
        max: u32,
    ) -> Stored<Vec<Waiting>> {
        Ok(look::waiting_of(self, need, keys, after, max).await?)
    }

    async fn depth(&mut self, need: &str, most: u64) -> Stored<u64> {
        Ok(look::depth(self, need, most).await?)
    }

    async fn next_change(&mut self, need: &str) -> Stored<Option<Timestamp>> {
        Ok(look::next_change(self, need).await?)
    }

    async fn write_messages(&mut self, rows: &BTreeMap<JobId, MessageRow>) -> Stored<()> {
        Ok(write::messages(self, rows).await?)
    }

    async fn defer_messages(&mut self, until: &BTreeMap<JobId, Timestamp>) -> Stored<()> {
        Ok(write::defer(self, until).await?)
    }

    async fn drop_messages(&mut self, messages: &[JobId]) -> Stored<()> {
        Ok(write::drop_messages(self, messages).await?)
    }

    async fn forget_dead(&mut self, jobs: &[JobId]) -> Stored<u64> {
        Ok(write::forget_dead(self, jobs).await?)
    }
}
