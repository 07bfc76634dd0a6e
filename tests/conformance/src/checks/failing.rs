//! Failed runs.

use std::sync::Arc;

use pgflow_machine::{Beat, RunStatus, Settle, Settled};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, RELEASED, StepExt, completed, failed, fatal, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C08", "a failed run freezes: nothing of it starts any more", fail_fast),
    check!("K04", "a fatal error needs no second attempt", fatal_error),
    check!("K05", "a batch goes on after a settle in it ended a run", batch_across_an_end),
];

async fn fail_fast(cx: Arc<Cx>) {
    let join = single("join").after("bad").after("busy").after("waits");
    let steps = [single("bad"), single("busy"), single("waits").start_delay(50), join];
    let flow = cx.flow(steps).await;
    let run = cx.start(&flow, json!({})).await;
    let [bad, busy] = run.take(["bad#0", "busy#0"]).await;
    run.fail_for_good(&bad, "boom").await;
    let frozen = ["bad:failed", "busy:started", "waits:started", "join:created"];
    let record = run.expect_state(RunStatus::Failed, &frozen).await;
    assert_eq!((record.output, record.remaining_steps), (None, 4));
    assert!(record.ended_at.is_some_and(|end| end >= record.started_at));
    run.expect_log_end(&["step:failed bad boom", "run:failed boom"]).await;
    assert_eq!(cx.beat(&[&busy.lease, &bad.lease]).await, [Beat::Cancelled, Beat::Cancelled]);
    for verdict in [completed(1), RELEASED, failed("late"), fatal("late")] {
        assert_eq!(cx.settle(&busy.lease, verdict).await, Settled::RunEnded);
    }
    run.expect_idle().await;
    run.expect_state(RunStatus::Failed, &frozen).await;
    run.expect_log_end(&["step:failed bad boom", "run:failed boom"]).await;
}

async fn fatal_error(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").attempts(10)]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a] = run.take(["a#0"]).await;
    run.fail_for_good(&a, "never again").await;
    let record = run.expect_state(RunStatus::Failed, &["a:failed"]).await;
    assert_eq!(record.steps[0].error.as_deref(), Some("never again"));
    run.expect_log_end(&["step:failed a never again", "run:failed never again"]).await;
    run.expect_idle().await;
}

async fn batch_across_an_end(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b")]).await;
    let (bad, good) = (cx.start(&flow, json!({})).await, cx.start(&flow, json!({})).await);
    let tasks = cx.claim(&flow).await;
    let settle = |task: &pgflow_runtime::backend::ClaimedTask| {
        let is_bad = task.lease.task.run == bad.id && task.lease.task.step == "a";
        let verdict = if is_bad { fatal("boom") } else { completed(1) };
        Settle { lease: task.lease.clone().into(), verdict }
    };
    let outcomes = cx.settle_all(tasks.iter().map(settle).collect()).await;
    let of = |run, step: &str| {
        let at = tasks.iter().position(|t| t.lease.task.run == run && t.lease.task.step == step);
        outcomes[at.expect("claimed")]
    };
    assert_eq!((of(good.id, "a"), of(good.id, "b")), (Settled::Applied, Settled::Applied));
    assert_eq!(of(bad.id, "a"), Settled::Applied);
    good.expect_state(RunStatus::Completed, &["a:completed", "b:completed"]).await;
    // Completions take effect before failures, so that `b` is done before its run ends.
    assert_eq!(of(bad.id, "b"), Settled::Applied);
    bad.expect_state(RunStatus::Failed, &["a:failed", "b:completed"]).await;
    bad.expect_log_end(&["step:failed a boom", "run:failed boom"]).await;
}
