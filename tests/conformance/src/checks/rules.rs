//! Rules that no other check is about.

use std::sync::Arc;

use pgflow_machine::{Beat, RunStatus, Settled};
use pgflow_runtime::backend::{Cancelled, NewRun, Retried, Started};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, completed, failed, single};

pub(crate) const CHECKS: &[Check] = &[
    check!(
        "R07",
        "time is the database's: it goes on, and all connections see the same",
        one_clock
    ),
    check!("R08", "a claim is there for everybody when it is returned", committed_claim),
    check!("R09", "repeating a call whose answer got lost leads to the same state", repeated_calls),
];

async fn one_clock(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let other = cx.another().await;
    let mut last = None;
    for n in 0..6 {
        let run = NewRun::new(flow.clone(), json!(n), pgflow_machine::RunId::new());
        let (id, backend) = (run.id, if n % 2 == 0 { cx.backend() } else { Arc::clone(&other) });
        backend.start(run).await.expect("a start");
        cx.remember(id);
        let events = backend.events(id, 0, 10).await.expect("events can be read");
        let record = backend.run(id, pgflow_runtime::backend::Parts::Run).await;
        let record = record.expect("a run can be read").expect("it is there");
        assert!(events.iter().all(|event| event.at >= record.started_at), "{events:?}");
        assert!(last.is_none_or(|last| last <= record.started_at), "starts in the order of time");
        last = events.last().map(|event| event.at);
    }
}

async fn committed_claim(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let other = cx.another().await;
    for n in 0..cx.rounds(5, 100) {
        let run = cx.start(&flow, json!(n)).await;
        let [a] = run.take(["a#0"]).await;
        let none = other.claim(&cx.wish(&flow, 1)).await.expect("work can be claimed").tasks;
        assert_eq!(none, [], "somebody has it");
        let beats = other.heartbeat(&[a.lease.clone().into()]).await.expect("an answer");
        assert_eq!(beats, [Beat::Extended]);
        let settle = [pgflow_machine::Settle { lease: a.lease.into(), verdict: completed(1) }];
        let work = other.settle(&settle, None).await.expect("an attempt can be settled");
        assert_eq!(work.settled, [Settled::Applied]);
        run.expect_state(RunStatus::Completed, &["a:completed"]).await;
        run.expect_log_end(&["run:completed {\"a\":1}"]).await;
    }
}

/// Everything twice.
async fn repeated_calls(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let again = NewRun::new(flow.clone(), json!({}), run.id);
    assert_eq!(cx.backend().start(again).await.expect("fine"), Started::Existing);
    let [a] = run.take(["a#0"]).await;
    assert_eq!(cx.beat(&[&a.lease]).await, cx.beat(&[&a.lease]).await);
    run.fail(&a, "once").await;
    assert_eq!(cx.settle(&a.lease, failed("once")).await, Settled::Fenced);
    let [a] = run.take(["a#0"]).await;
    assert_eq!(a.lease.attempt, 2);
    run.done(&a, 1).await;
    assert_eq!(cx.settle(&a.lease, completed(1)).await, Settled::AlreadySettled);
    let [b] = run.take(["b#0"]).await;
    run.fail_for_good(&b, "boom").await;
    assert_eq!(cx.settle(&b.lease, crate::kit::fatal("boom")).await, Settled::RunEnded);
    assert_eq!(run.retry().await, Retried::Retried);
    assert_eq!(run.retry().await, Retried::NotFailed(RunStatus::Started));
    assert_eq!(run.cancel(Some("x")).await, Cancelled::Cancelled);
    assert_eq!(run.cancel(Some("x")).await, Cancelled::Ended(RunStatus::Cancelled));
    // Where it takes long to get here, they find what other checks have left behind.
    cx.sweep().await;
    cx.sweep().await;
    run.expect_state(RunStatus::Cancelled, &["a:completed", "b:started"]).await;
    run.expect_log(&[
        "run:started {}",
        "step:started a 1",
        "step:completed a 1",
        "step:started b 1",
        "step:failed b boom",
        "run:failed boom",
        "run:retried",
        "step:started b 1",
        "run:cancelled x",
    ])
    .await;
}
