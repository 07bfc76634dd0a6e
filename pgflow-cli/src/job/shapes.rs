//! Jobs, as they are printed for machines: see docs/cli.md.

use pgflow_runtime::backend::{JobEvent, JobRecord, JobSummary, NeedDepth};
use pgflow_runtime::client::{JobReason, JobWhy, Moments};
use pgflow_runtime::job;
use serde_json::{Value, json};

use crate::database::shapes::{moment, seconds};

/// What lists have.
pub(crate) fn summary(job: &JobSummary) -> Value {
    let row = &job.row;
    json!({
        "id": job.id,
        "need": row.need,
        "status": job.standing.to_string(),
        // What has ended is in none: what a database keeps of it differs.
        "state": job.ended_at.is_none().then_some(row.state),
        "key": row.key,
        "priority": row.priority,
        "attempts": row.attempts,
        "failures": row.failures,
        "lapses": row.lapses,
        "worker": row.lease.as_ref().map(|lease| &lease.worker),
        "error": job.error,
        "created_at": moment(Some(row.created_at)),
        "wake_at": moment(row.wake_at),
        "ended_at": moment(job.ended_at),
    })
}

/// What one has besides.
pub(crate) fn record(record: &JobRecord, why: &JobWhy, moments: Moments) -> Value {
    let row = &record.summary.row;
    let mut json = summary(&record.summary);
    json["max_attempts"] = row.max_attempts.into();
    json["streak"] = row.streak.into();
    json["expires_at"] = moment(row.expires_at);
    json["lease_until"] = moment(row.lease.as_ref().map(|lease| lease.until));
    json["waits_for"] = record.waits_for.iter().map(wait).collect();
    json["reasons"] = why.reasons.iter().map(|it| reason(it, moments)).collect();
    json
}

fn wait(wait: &job::Wait) -> Value {
    json!({ "kind": wait.on.kind(), "name": wait.on.name(), "policy": wait.policy })
}

pub(crate) fn event(event: &JobEvent) -> Value {
    json!({
        "number": event.number,
        "at": moment(Some(event.at)),
        "kind": event.kind,
        "by": event.by,
        "detail": event.detail,
    })
}

fn reason(reason: &JobReason, moments: Moments) -> Value {
    json!({ "code": reason.code(), "text": reason.sentence(moments) })
}

pub(crate) fn why(why: &JobWhy, moments: Moments) -> Value {
    let reasons: Vec<_> = why.reasons.iter().map(|it| reason(it, moments)).collect();
    let status = why.standing.to_string();
    json!({ "job": why.job, "need": why.need, "status": status, "reasons": reasons })
}

pub(crate) fn need(need: &NeedDepth, is_paused: bool) -> Value {
    json!({
        "need": need.need,
        "ready": need.ready,
        "sleeping": need.sleeping,
        "waiting": need.waiting,
        "parked": need.parked,
        "running": need.running,
        "concern": need.concern,
        "first_ready_seconds": seconds(need.first_ready),
        "is_paused": is_paused,
    })
}
