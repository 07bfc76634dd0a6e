//! Attempts and how many there are.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{RunStatus, Settle};
use pgflow_runtime::backend::Parts;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, RELEASED, StepExt, completed, later, names, options, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("K51", "a step says who works on it, or what it waits for", visible),
    check!("K71", "so does a map of more tasks than are looked at one by one", visible_of_many),
    check!("C22", "after the last attempt the run ends and nothing is left", last_attempt),
    check!("C26", "a release burns no attempt and delays nothing", release),
    check!("K15", "max_attempts 0 is 1, and a step's own beats the flow's", bounds),
];

async fn last_attempt(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").map()]).await;
    let run = cx.start(&flow, json!([1, 2])).await;
    let [_, waits] = run.take(["a#0", "a#1"]).await;
    run.apply(&waits, RELEASED).await;
    let [mut task] = run.take(["a#1"]).await;
    for error in ["one", "two"] {
        run.fail(&task, error).await;
        run.expect_state(RunStatus::Started, &["a:started"]).await;
        [task] = run.take(["a#1"]).await;
    }
    assert_eq!(task.lease.attempt, 4, "three attempts that count, one released");
    run.fail(&task, "three").await;
    let record = run.expect_state(RunStatus::Failed, &["a:failed"]).await;
    assert_eq!(record.steps[0].error.as_deref(), Some("three"));
    run.expect_log(&[
        "run:started [1,2]",
        "step:started a 2",
        "step:failed a three",
        "run:failed three",
    ])
    .await;
    run.expect_idle().await;
}

async fn release(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").attempts(2).base_delay(100)]).await;
    let run = cx.start(&flow, json!({})).await;
    for attempt in 1..=6 {
        let [task] = run.take(["a#0"]).await;
        assert_eq!(task.lease.attempt, attempt, "numbers are never used twice");
        run.apply(&task, RELEASED).await;
    }
    let [seventh] = run.take(["a#0"]).await;
    run.fail(&seventh, "first").await;
    run.advance(190).await;
    assert_eq!(names(&cx.claim(&flow).await), [""; 0], "base_delay * 2");
    run.advance(20).await;
    let [eighth] = run.take(["a#0"]).await;
    assert_eq!(eighth.lease.attempt, 8);
    run.fail(&eighth, "second").await;
    run.expect_state(RunStatus::Failed, &["a:failed"]).await;
    run.expect_log(&[
        "run:started {}",
        "step:started a 1",
        "step:failed a second",
        "run:failed second",
    ])
    .await;
}

async fn bounds(cx: Arc<Cx>) {
    let flow = cx.flow([single("none").attempts(0), single("four").attempts(4)]).await;
    let run = cx.start(&flow, json!({})).await;
    let [mut four, none] = run.take(["four#0", "none#0"]).await;
    for attempt in 2..=4 {
        run.fail(&four, "again").await;
        [four] = run.take(["four#0"]).await;
        assert_eq!(four.lease.attempt, attempt);
    }
    run.fail(&none, "once").await;
    run.expect_state(RunStatus::Failed, &["four:started", "none:failed"]).await;
    run.expect_log_end(&["step:failed none once", "run:failed once"]).await;

    let run = cx.start(&flow, json!({})).await;
    for _ in 1..=4 {
        let tasks = cx.claim(&flow).await;
        run.fail(&tasks[0], "four times").await;
    }
    run.expect_state(RunStatus::Failed, &["four:failed", "none:started"]).await;
}

async fn visible(cx: Arc<Cx>) {
    let flow = cx.flow_with(options(9, 600, 100), [single("a"), single("z").after("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let look = async || {
        let found = cx.backend().run(run.id, Parts::Steps).await.expect("read").expect("there");
        assert_eq!(found.steps[1].work, None, "it has not started");
        found.steps[0].work.clone().expect("it is started")
    };
    let waits = look().await;
    assert_eq!(
        (waits.attempts, waits.running, waits.worker, &waits.last_error),
        (0, 0, None, &None)
    );
    let ready = waits.next_at.expect("it can be claimed");
    let [a] = run.take(["a#0"]).await;
    let runs = look().await;
    assert_eq!((runs.attempts, runs.running, runs.next_at), (1, 1, None));
    assert_eq!(runs.worker, Some(cx.wish(&flow, 1).worker));
    run.fail(&a, "not yet").await;
    let waits = look().await;
    assert_eq!((waits.attempts, waits.running, waits.worker), (1, 0, None));
    assert_eq!(waits.last_error.as_deref(), Some("not yet"));
    let next = waits.next_at.expect("it is tried again");
    assert!(ready.saturating_until(next) >= Duration::from_mins(20), "{ready:?} {next:?}");
    run.advance(1_200).await;
    let [a] = run.take(["a#0"]).await;
    let runs = look().await;
    assert_eq!((runs.attempts, runs.running), (2, 1));
    assert_eq!(runs.last_error.as_deref(), Some("not yet"), "what the attempt before said");
    run.done(&a, 1).await;
    let found = cx.backend().run(run.id, Parts::Steps).await.expect("read").expect("there");
    assert_eq!(found.steps[0].work, None, "it is over");
}

async fn visible_of_many(cx: Arc<Cx>) {
    let many = 1_101;
    let flow = cx.flow_with(options(9, 600, 100), [single("a").map()]).await;
    let run = cx.start(&flow, vec![0; many]).await;
    let look = async || {
        let found = cx.backend().run(run.id, Parts::Steps).await.expect("read").expect("there");
        (found.steps[0].work.clone().expect("it is started"), found.started_at)
    };
    let (waits, _) = look().await;
    assert_eq!((waits.running, waits.worker, &waits.last_error), (0, None, &None));
    assert!(waits.next_at.is_some(), "it can be claimed");
    let mut held = Vec::new();
    while held.len() < many {
        held.extend(cx.claim_as(&cx.wish(&flow, 1_000)).await);
    }
    let (runs, _) = look().await;
    assert!(runs.running >= 100 && runs.worker == Some(cx.wish(&flow, 1).worker), "{runs:?}");
    assert_eq!(runs.next_at, None);
    // All but the last one: of those that are done nothing is told.
    for (number, some) in held[1..].chunks(500).enumerate() {
        let verdict = || match number {
            0 => completed(1),
            _ => later("not yet", Duration::from_mins(10)),
        };
        let settle = |task: &_| {
            let task: &pgflow_runtime::backend::ClaimedTask = task;
            Settle { lease: task.lease.clone().into(), verdict: verdict() }
        };
        cx.settle_all(some.iter().map(settle).collect()).await;
    }
    let (last, _) = look().await;
    assert_eq!(last.running, 1, "{last:?}");
    run.fail(&held[0], "nor this").await;
    let (waits, since) = look().await;
    assert_eq!((waits.running, waits.worker), (0, None), "{waits:?}");
    assert!(waits.last_error.is_some(), "{waits:?}");
    let next = waits.next_at.expect("it is tried again");
    assert!(since.saturating_until(next) >= Duration::from_mins(9), "{since:?} {next:?}");
}
