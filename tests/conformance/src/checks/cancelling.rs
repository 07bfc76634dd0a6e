//! Cancelled runs.

use std::sync::Arc;

use pgflow_machine::{Beat, RunId, RunStatus, Settled};
use pgflow_runtime::backend::Cancelled;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, RELEASED, StepExt, completed, failed, fatal, names, single};

pub(crate) const CHECKS: &[Check] = &[
    check!(
        "C10",
        "a cancelled run's tasks hear of it at the next heartbeat",
        told_at_the_next_beat
    ),
    check!("C12", "nothing of a run starts after it was cancelled", nothing_starts),
    check!("K06", "a run is cancelled once, with its reason", cancelled_once),
];

async fn told_at_the_next_beat(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let (run, other) = (cx.start(&flow, json!({})).await, cx.start(&flow, json!({})).await);
    let tasks = cx.claim(&flow).await;
    let of = |run| tasks.iter().find(|task| task.lease.task.run == run).expect("claimed");
    let (task, untouched) = (of(run.id), of(other.id));
    assert_eq!(run.cancel(Some("enough")).await, Cancelled::Cancelled);
    assert_eq!(cx.beat(&[&task.lease, &untouched.lease]).await, [Beat::Cancelled, Beat::Extended]);
    for verdict in [completed(1), failed("late"), fatal("late"), RELEASED] {
        assert_eq!(cx.settle(&task.lease, verdict).await, Settled::RunEnded);
    }
    let record = run.expect_state(RunStatus::Cancelled, &["a:started", "b:created"]).await;
    assert_eq!(record.cancel_reason.as_deref(), Some("enough"));
    assert!(record.ended_at.is_some());
    run.expect_log_end(&["step:started a 1", "run:cancelled enough"]).await;
    other.done(untouched, 1).await;
    assert_eq!(names(&cx.claim(&flow).await), ["b#0"], "the other run goes on");
}

/// Neither what waits, nor what waits for its time, nor what a worker lost.
async fn nothing_starts(cx: Arc<Cx>) {
    let flow = cx.flow([single("each").map(), single("later").start_delay(50)]).await;
    let run = cx.start(&flow, json!([1, 2, 3])).await;
    assert_eq!(cx.claim_as(&cx.wish(&flow, 2)).await.len(), 2);
    assert_eq!(run.cancel(None).await, Cancelled::Cancelled);
    run.expect_idle().await;
    run.expect_state(RunStatus::Cancelled, &["each:started", "later:started"]).await;
    run.expect_log_end(&["step:started later 1", "run:cancelled"]).await;
}

async fn cancelled_once(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    assert_eq!(run.cancel(Some("one")).await, Cancelled::Cancelled);
    assert_eq!(run.cancel(Some("two")).await, Cancelled::Ended(RunStatus::Cancelled));
    assert_eq!(run.record().await.cancel_reason.as_deref(), Some("one"));
    let unknown = cx.backend().cancel(RunId::new(), None).await.expect("can be asked");
    assert_eq!(unknown, Cancelled::Unknown);
    run.expect_log_end(&["step:started a 1", "run:cancelled one"]).await;
    let wordy = cx.start(&flow, json!({})).await;
    assert_eq!(wordy.cancel(Some(&"é".repeat(70_000))).await, Cancelled::Cancelled);
    let reason = wordy.record().await.cancel_reason.unwrap_or_default();
    assert_eq!(reason.chars().count(), 65_536, "cut like an error");
}
