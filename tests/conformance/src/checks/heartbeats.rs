//! Leases and what keeps them.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{Beat, RunStatus};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, StepExt, names, single, steps_of};

pub(crate) const CHECKS: &[Check] = &[
    check!("C20", "a heartbeat extends what is held and nothing else", mixed),
    check!(
        "C21",
        "a step's own timeout beats the flow's, for the lease and for recovery",
        timeouts
    ),
    check!(
        "K14",
        "a heartbeat extends a lease that has run out, if nobody took it back",
        late_beat
    ),
    check!("K19", "a lease that is named twice is extended, and said so twice", named_twice),
];

async fn mixed(cx: Arc<Cx>) {
    let flow = cx.flow([single("each").map()]).await;
    let run = cx.start(&flow, json!([1, 2, 3])).await;
    let [held, other, done] = run.take(["each#0", "each#1", "each#2"]).await;
    run.done(&done, 1).await;
    run.advance(60).await;
    assert_eq!(cx.beat(&[&held.lease, &done.lease]).await, [Beat::Extended, Beat::Lost]);
    run.advance(60).await;
    assert_eq!(cx.sweep().await, 1, "the other one only");
    let [again] = run.take(["each#1"]).await;
    let beats = cx.beat(&[&done.lease, &other.lease, &again.lease, &held.lease]).await;
    assert_eq!(beats, [Beat::Lost, Beat::Lost, Beat::Extended, Beat::Extended]);
    run.advance(60).await;
    assert_eq!(cx.sweep().await, 0, "both were extended");
    run.advance(60).await;
    assert_eq!(cx.sweep().await, 2, "a heartbeat lasts as long as a timeout");
    assert_eq!(cx.beat(&[&held.lease]).await, [Beat::Lost], "queued");
    run.expect_state(RunStatus::Started, &["each:started"]).await;
    run.expect_log(&["run:started [1,2,3]", "step:started each 3"]).await;
}

async fn timeouts(cx: Arc<Cx>) {
    let steps = [single("flows"), single("long").timeout(1_000), single("short").timeout(10)];
    let flow = cx.flow(steps).await;
    let run = cx.start(&flow, json!({})).await;
    let tasks = run.take(["flows#0", "long#0", "short#0"]).await;
    let seconds = tasks.each_ref().map(|task| task.timeout);
    assert_eq!(seconds, [100, 1_000, 10].map(Duration::from_secs));
    for (advance, lost) in
        [(6, &[][..]), (14, &["short"]), (100, &["flows"]), (800, &[]), (200, &["long"])]
    {
        run.advance(advance).await;
        assert_eq!(names(&cx.claim(&flow).await), [""; 0], "what is held can't be claimed");
        assert_eq!(cx.sweep().await, lost.len() as u64, "{lost:?} should be lost");
        let tasks = cx.claim(&flow).await;
        assert_eq!(steps_of(&tasks), lost);
        for task in tasks {
            run.done(&task, 1).await;
        }
    }
    run.expect_state(
        RunStatus::Completed,
        &["flows:completed", "long:completed", "short:completed"],
    )
    .await;
    run.expect_log_end(&["run:completed {\"flows\":1,\"long\":1,\"short\":1}"]).await;
}

async fn late_beat(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a] = run.take(["a#0"]).await;
    run.advance(500).await;
    assert_eq!(cx.beat(&[&a.lease]).await, [Beat::Extended]);
    assert_eq!(cx.sweep().await, 0);
    run.done(&a, 1).await;
    run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    run.expect_log_end(&["run:completed {\"a\":1}"]).await;
}

/// `Lost` would make a worker stop a task that is fine.
async fn named_twice(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a] = run.take(["a#0"]).await;
    assert_eq!(cx.beat(&[&a.lease, &a.lease]).await, [Beat::Extended, Beat::Extended]);
    run.done(&a, 1).await;
    run.expect_log_end(&["run:completed {\"a\":1}"]).await;
}
