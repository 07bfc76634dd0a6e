//! What is printed for machines: see docs/cli.md.

use std::time::Duration;

use pgflow_runtime::Timestamp;
use pgflow_runtime::backend::{
    Finding, FlowRecord, QueueDepth, RunSummary, StepRecord, StepTimes, WorkerRecord,
};
use pgflow_runtime::client::{Moments, Reason, Why};
use serde_json::{Value, json};

pub(crate) fn moment(at: Option<Timestamp>) -> Value {
    at.map(|at| at.to_string()).into()
}

pub(crate) fn seconds(time: Option<Duration>) -> Value {
    time.map(|time| time.as_secs_f64()).into()
}

pub(crate) fn run(run: &RunSummary) -> Value {
    json!({
        "id": run.id,
        "flow": run.flow,
        "status": run.status,
        "remaining_steps": run.remaining_steps,
        "started_at": run.started_at.to_string(),
        "ended_at": moment(run.ended_at),
    })
}

pub(crate) fn flow(flow: &FlowRecord) -> Value {
    json!({
        "flow": flow.flow,
        "version": flow.version,
        "slug": flow.slug,
        "is_current": flow.is_current,
        "steps": flow.steps,
        "created_at": moment(flow.created_at),
    })
}

pub(crate) fn queue(queue: &QueueDepth) -> Value {
    json!({
        "slug": queue.slug,
        "ready": queue.ready,
        "delayed": queue.delayed,
        "running": queue.running,
        "oldest_ready_seconds": seconds(queue.oldest_ready),
    })
}

pub(crate) fn worker(worker: &WorkerRecord, now: Timestamp) -> Value {
    json!({
        "id": worker.id.0,
        "host": worker.host,
        "pid": worker.pid,
        "queues": worker.flows().collect::<Vec<_>>(),
        "needs": worker.needs().collect::<Vec<_>>(),
        "slots": worker.slots,
        "running": worker.running,
        "is_alive": worker.is_alive(now),
        "started_at": worker.started_at.to_string(),
        "seen_at": worker.seen_at.to_string(),
        "stopped_at": moment(worker.stopped_at),
    })
}

pub(crate) fn step(step: &StepRecord, times: Option<&StepTimes>, attempts: Option<u32>) -> Value {
    let work = step.work.as_ref();
    json!({
        "slug": step.slug,
        "status": step.status,
        "is_map": step.is_map,
        "tasks": step.tasks,
        "remaining_tasks": step.remaining_tasks,
        "attempts": attempts,
        "running": work.map(|work| work.running),
        "error": step.error.as_ref().or(work.and_then(|work| work.last_error.as_ref())),
        "yielded": work.and_then(|work| work.yielded.as_ref()),
        "skip_reason": step.skip_reason,
        "started_at": moment(times.and_then(|times| times.started_at)),
        "ended_at": moment(times.and_then(|times| times.ended_at)),
    })
}

pub(crate) fn reason(reason: &Reason, moments: Moments) -> Value {
    json!({ "code": reason.code(), "step": reason.step(), "text": reason.sentence(moments) })
}

pub(crate) fn why(why: &Why, moments: Moments) -> Value {
    let reasons: Vec<_> = why.reasons.iter().map(|it| reason(it, moments)).collect();
    json!({ "run": why.run, "flow": why.flow, "status": why.status, "reasons": reasons })
}

pub(crate) fn finding(finding: &Finding) -> Value {
    json!({
        "code": finding.code,
        "severity": finding.severity.word(),
        "what": finding.what,
        "fix": finding.fix,
    })
}
