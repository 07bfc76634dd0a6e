//! What tracing knows of an attempt.

use tracing::Span;

use super::attempt::Attempt;

/// A span per run, step and attempt. The run's id is the trace: `trace.id` is the same in every process that
/// works on the run, and has the form of an OpenTelemetry trace id.
pub(super) fn attempt(attempt: &Attempt) -> Span {
    let lease = &attempt.task.lease;
    let run = tracing::info_span!(
        "run",
        run.id = %lease.task.run,
        trace.id = %lease.task.run.0.simple(),
        flow = attempt.task.flow,
    );
    let step = tracing::info_span!(parent: &run, "step", step = lease.task.step);
    tracing::info_span!(
        parent: &step,
        "attempt",
        index = lease.task.index,
        attempt = lease.attempt,
    )
}
