//! Workers that come back after their task was given to somebody else.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{RunStatus, Settled};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, RELEASED, completed, failed, fatal, later, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C16", "a completion of a superseded attempt changes nothing", zombie_completes),
    check!("C17", "a completion after expiry counts until the task is taken back", late_but_first),
    check!("C18", "a failure or release of a superseded attempt changes nothing", zombie_fails),
];

async fn zombie_completes(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [zombie] = run.take(["a#0"]).await;
    run.advance(200).await;
    assert_eq!(cx.sweep().await, 1);
    let [alive] = run.take(["a#0"]).await;
    assert_eq!(cx.settle(&zombie.lease, completed("zombie")).await, Settled::Fenced);
    run.expect_state(RunStatus::Started, &["a:started", "b:created"]).await;
    run.done(&alive, "alive").await;
    assert_eq!(cx.settle(&zombie.lease, completed("zombie")).await, Settled::Fenced);
    let [b] = run.take(["b#0"]).await;
    assert_eq!(b.input, json!({"run": {}, "a": "alive"}));
    run.expect_log_end(&["step:completed a \"alive\"", "step:started b 1"]).await;
}

/// The attempt is the newest one until another begins or a sweep takes it back.
async fn late_but_first(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [late] = run.take(["a#0"]).await;
    run.advance(100_000).await;
    run.done(&late, "late").await;
    run.expect_state(RunStatus::Completed, &["a:completed"]).await;

    let run = cx.start(&flow, json!({})).await;
    let [late] = run.take(["a#0"]).await;
    run.advance(200).await;
    assert_eq!(cx.sweep().await, 1);
    assert_eq!(cx.settle(&late.lease, completed("late")).await, Settled::Fenced);
    run.expect_log(&["run:started {}", "step:started a 1"]).await;
    let [second] = run.take(["a#0"]).await;
    run.done(&second, "second").await;
    run.expect_log_end(&["run:completed {\"a\":\"second\"}"]).await;
}

async fn zombie_fails(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let hour = Duration::from_hours(1);
    for verdict in [failed("z"), later("z", hour), fatal("z"), RELEASED] {
        let run = cx.start(&flow, json!({})).await;
        let [zombie] = run.take(["a#0"]).await;
        run.advance(200).await;
        assert_eq!(cx.sweep().await, 1);
        assert_eq!(cx.settle(&zombie.lease, verdict.clone()).await, Settled::Fenced, "queued");
        let [alive] = run.take(["a#0"]).await;
        assert_eq!(alive.lease.attempt, 2);
        assert_eq!(cx.settle(&zombie.lease, verdict.clone()).await, Settled::Fenced, "running");
        run.expect_log(&["run:started {}", "step:started a 1"]).await;
        run.done(&alive, "alive").await;
        assert_eq!(cx.settle(&zombie.lease, verdict).await, Settled::Fenced, "done");
        let record = run.expect_state(RunStatus::Completed, &["a:completed"]).await;
        assert_eq!(record.output, Some(json!({"a": "alive"})));
    }
}
