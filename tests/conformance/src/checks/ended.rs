//! Ends are final.

use std::sync::Arc;

use pgflow_machine::{Beat, RunStatus, Settled};
use pgflow_runtime::backend::{Cancelled, NewRun, Retried, Started};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, RELEASED, completed, failed, fatal, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C11", "a completed run stays as it is", completed_stays),
    check!("K07", "a flow without steps completes at once", without_steps),
];

async fn completed_stays(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, "in").await;
    let [a] = run.take(["a#0"]).await;
    run.done(&a, "out").await;
    let end = run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    assert_eq!(end.output, Some(json!({"a": "out"})));
    assert_eq!(run.cancel(Some("late")).await, Cancelled::Ended(RunStatus::Completed));
    assert_eq!(run.retry().await, Retried::NotFailed(RunStatus::Completed));
    for verdict in [completed("other"), failed("late"), fatal("late"), RELEASED] {
        assert_eq!(cx.settle(&a.lease, verdict).await, Settled::AlreadySettled);
    }
    assert_eq!(cx.beat(&[&a.lease]).await, [Beat::Lost]);
    let again = NewRun::new(flow.clone(), "again", run.id);
    assert_eq!(cx.backend().start(again).await.expect("fine"), Started::Existing);
    run.expect_idle().await;
    assert_eq!(run.record().await, end, "nothing changed");
    run.expect_log(&[
        "run:started \"in\"",
        "step:started a 1",
        "step:completed a \"out\"",
        "run:completed {\"a\":\"out\"}",
    ])
    .await;
}

async fn without_steps(cx: Arc<Cx>) {
    let flow = cx.flow([]).await;
    let run = cx.start(&flow, json!({})).await;
    let record = run.expect_state(RunStatus::Completed, &[]).await;
    assert_eq!(record.output, None);
    run.expect_log(&["run:started {}", "run:completed null"]).await;
}
