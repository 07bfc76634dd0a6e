//! Rows of jobs as parameters of the statements that write them.

use pgflow_machine::Timestamp;
use pgflow_machine::job::{
    ArchiveWrite, JobId, JobOutcome, JobRows, JobState, JobWrites, Policy, TraceEntry, TraceKind,
};
use serde::Serialize;
use serde_json::Value;

use super::load::On;
use super::names::Name;
use crate::error::{Result, broken};

#[derive(Serialize)]
pub(super) struct Job<'w> {
    pub(super) id: Name<'w>,
    pub(super) need: Name<'w>,
    pub(super) priority: i32,
    pub(super) urgency: i64,
    pub(super) state: JobState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wake_at: Option<Timestamp>,
    pub(super) waits: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<Name<'w>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<Timestamp>,
    pub(super) attempts: u32,
    pub(super) forgiven: u32,
    pub(super) failures: u32,
    pub(super) lapses: u32,
    pub(super) streak: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cancel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) settled: Option<&'w str>,
    pub(super) created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) payload: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'w str>,
}

#[derive(Serialize)]
pub(super) struct Lease<'w> {
    pub(super) id: Name<'w>,
    pub(super) token: &'w str,
    pub(super) until: Timestamp,
    pub(super) worker: &'w str,
}

#[derive(Serialize)]
pub(super) struct Edge<'w> {
    #[serde(flatten)]
    pub(super) on: On,
    pub(super) waiter: Name<'w>,
    pub(super) policy: Policy,
}

/// A job that goes to the archive.
#[derive(Serialize)]
pub(super) struct Ended<'w> {
    #[serde(flatten)]
    job: Job<'w>,
    outcome: JobOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

#[derive(Serialize)]
pub(super) struct HeldKey<'w> {
    pub(super) name: Name<'w>,
    pub(super) holder: Name<'w>,
}

#[derive(Serialize)]
pub(super) struct Traced<'w> {
    pub(super) job: Name<'w>,
    pub(super) kind: TraceKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<&'w str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<&'w str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<String>,
}

impl<'w> From<&'w pgflow_machine::job::Edge> for Edge<'w> {
    fn from(edge: &'w pgflow_machine::job::Edge) -> Self {
        let waiter = Name::from(&edge.waiter);
        Self { on: On::from(&edge.wait.on), waiter, policy: edge.wait.policy }
    }
}

impl<'w> From<&'w TraceEntry> for Traced<'w> {
    fn from(entry: &'w TraceEntry) -> Self {
        Self {
            job: Name::from(&entry.job),
            kind: entry.kind,
            by: entry.by.as_deref(),
            token: entry.token.as_ref().map(|token| token.0.as_str()),
            detail: entry.detail.as_ref().map(Value::to_string),
        }
    }
}

fn job<'w>(rows: &'w JobRows, writes: &'w JobWrites<'_>, id: &'w JobId) -> Result<Job<'w>> {
    let row = rows.row(id).ok_or_else(|| broken(format!("job {id} was not loaded")))?;
    Ok(Job {
        id: id.into(),
        need: Name(&row.need),
        priority: row.priority,
        urgency: -i64::from(row.priority),
        state: row.state,
        wake_at: row.wake_at,
        waits: row.waits,
        key: row.key.as_deref().map(Name),
        expires_at: row.expires_at,
        attempts: row.attempts,
        forgiven: row.forgiven,
        failures: row.failures,
        lapses: row.lapses,
        streak: row.streak,
        max_attempts: row.max_attempts,
        cancel: row.cancel.as_ref().map(serde_json::to_string).transpose().map_err(broken)?,
        settled: row.settled.as_ref().map(|token| token.0.as_str()),
        created_at: row.created_at,
        payload: writes.payloads.get(id).map(ToString::to_string),
        error: writes.errors.get(id).map(String::as_str),
    })
}

pub(super) fn jobs<'w>(
    rows: &'w JobRows,
    writes: &'w JobWrites<'_>,
    ids: impl IntoIterator<Item = &'w JobId>,
) -> Result<Vec<Job<'w>>> {
    ids.into_iter().map(|id| job(rows, writes, id)).collect()
}

pub(super) fn ended<'w>(rows: &'w JobRows, writes: &'w JobWrites<'_>) -> Result<Vec<Ended<'w>>> {
    let ended = |write: &'w ArchiveWrite<'_>| {
        let (job, output) = (job(rows, writes, &write.id)?, write.output.map(Value::to_string));
        Ok(Ended { job, outcome: write.outcome, output })
    };
    writes.archived.iter().map(ended).collect()
}
