//! When a task may be tried, and tried again.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{RunStatus, Settle, Settled};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, StepExt, later, names, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C24", "retries wait base_delay * 2^n, a day at the most, without overflow", backoff),
    check!("C25a", "a delay of a retry may be nothing, a millisecond or ten years", retry_after),
    check!("C25b", "a start delay may be nothing or ten years", start_delay),
];

const TEN_YEARS: u32 = 315_360_000;

async fn expect_none(cx: &Cx, flow: &str, why: &str) {
    assert_eq!(names(&cx.claim(flow).await), [""; 0], "{why}");
}

async fn backoff(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").attempts(100).base_delay(1_000)]).await;
    let run = cx.start(&flow, json!({})).await;
    for attempt in 1..=60_u32 {
        let [task] = run.take(["a#0"]).await;
        assert_eq!(task.lease.attempt, attempt);
        run.fail(&task, "boom").await;
        let delay = 1_000_u64.checked_shl(attempt).unwrap_or(u64::MAX).min(86_400);
        if (9..=58).contains(&attempt) {
            run.advance(86_410).await;
            continue;
        }
        run.advance(delay - 100).await;
        expect_none(&cx, &flow, &format!("retry {attempt} waits {delay} s")).await;
        run.advance(110).await;
    }
    let flow = cx.flow([single("a").attempts(9).base_delay(2_147_483_647)]).await;
    let huge = cx.start(&flow, json!({})).await;
    let [task] = huge.take(["a#0"]).await;
    huge.fail(&task, "boom").await;
    huge.advance(86_410).await;
    huge.take(["a#0"]).await;
    run.expect_state(RunStatus::Started, &["a:started"]).await;
    run.expect_log(&["run:started {}", "step:started a 1"]).await;
}

async fn retry_after(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").attempts(10).base_delay(1_000)]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, later("now", Duration::ZERO)).await;
    let [task] = run.take(["a#0"]).await;
    // On one trip, so that a busy machine has no time to let the second pass.
    let settle =
        [Settle { lease: task.lease.into(), verdict: later("soon", Duration::from_millis(1)) }];
    let work = cx.work(&settle, Some(&cx.wish(&flow, 1))).await;
    assert_eq!(work.settled, [Settled::Applied]);
    assert_eq!(names(&work.claimed.tasks), [""; 0], "a part of a second is a second");
    run.advance(1).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, later("much later", Duration::from_secs(TEN_YEARS.into()))).await;
    run.advance(u64::from(TEN_YEARS) - 100).await;
    expect_none(&cx, &flow, "ten years").await;
    run.advance(110).await;
    let [task] = run.take(["a#0"]).await;
    assert_eq!(task.lease.attempt, 4);
    run.done(&task, 1).await;
    run.expect_log_end(&["step:started a 1", "step:completed a 1", "run:completed {\"a\":1}"])
        .await;
}

async fn start_delay(cx: Arc<Cx>) {
    let steps = [
        single("later").start_delay(TEN_YEARS),
        single("now").start_delay(0),
        single("soon").start_delay(100),
    ];
    let flow = cx.flow(steps).await;
    let run = cx.start(&flow, json!({})).await;
    let log =
        ["run:started {}", "step:started later 1", "step:started now 1", "step:started soon 1"];
    run.expect_log(&log).await;
    let [now] = run.take(["now#0"]).await;
    run.done(&now, 1).await;
    run.advance(90).await;
    expect_none(&cx, &flow, "100 s").await;
    run.advance(20).await;
    let [soon] = run.take(["soon#0"]).await;
    run.done(&soon, 1).await;
    run.advance(u64::from(TEN_YEARS) - 210).await;
    expect_none(&cx, &flow, "ten years").await;
    run.advance(200).await;
    let [task] = run.take(["later#0"]).await;
    run.done(&task, 1).await;
    run.expect_state(RunStatus::Completed, &["later:completed", "now:completed", "soon:completed"])
        .await;
}
