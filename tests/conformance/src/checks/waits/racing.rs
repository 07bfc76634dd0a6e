//! Many at the same time.

use std::sync::Arc;

use futures_util::future::{join, join_all};
use pgflow_machine::RunStatus;
use pgflow_machine::wait::Signalled;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::waits::{hook, runs_of, signal, timeout, to_token, waits};
use crate::kit::{Cx, StepExt, completed, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("W80", "of identical signals at once one is delivered", identical, Waits),
    check!("W81", "no signal is lost that races with the wait's commit", opening, Waits),
    check!("W82", "a signal that races with the timeout is delivered or kept", timing_out, Waits),
    check!("W83", "a signal that races with a cancel is delivered or gone", cancelling, Waits),
    check!("W84", "no end of a child is lost, however many end at once", children, Waits),
];

async fn identical(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let clients = join_all((0..5).map(|_| cx.another())).await;
    for is_kept in [false, true] {
        let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
        let [task] = run.take(["a#0"]).await;
        if !is_kept {
            run.apply(&task, waits(hook(&token))).await;
        }
        let same = to_token(&token, 1).resume_id("one");
        let sent = (0..50).map(|n| signal(&clients[n % clients.len()], &same));
        let answers = join_all(sent).await;
        let other = answers.iter().filter(|answer| **answer != Signalled::Duplicate).count();
        assert_eq!(other, 1, "{answers:?}");
        if is_kept {
            run.apply(&task, waits(hook(&token))).await;
        }
        run.expect_log_end(&[
            "step:signalled a 0",
            "step:completed a 1",
            "run:completed {\"a\":1}",
        ])
        .await;
        assert_eq!(run.log().await.count("step:signalled a"), 1);
    }
}

async fn opening(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let other = cx.another().await;
    for n in 0..cx.rounds(60, 1000) {
        let run = cx.start(&flow, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        // Names that somebody chose, and such that nobody did.
        let token =
            if n % 2 == 0 { cx.token() } else { cx.announce(&task).await.expect("it holds") };
        let sent = to_token(&token, n);
        let (answer, ()) = join(signal(&other, &sent), run.apply(&task, waits(hook(&token)))).await;
        let is_fine = matches!(answer, Signalled::Delivered(_) | Signalled::Buffered);
        assert!(is_fine, "{answer:?}");
        run.expect_state(RunStatus::Completed, &["a:completed"]).await;
        assert_eq!(run.log().await.count("step:signalled a"), 1);
    }
}

async fn timing_out(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").attempts(2)]).await;
    let other = cx.another().await;
    for n in 0..cx.rounds(20, 300) {
        let run = cx.start(&flow, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        let token = cx.announce(&task).await.expect("it holds");
        run.apply(&task, waits(timeout(60, hook(&token)))).await;
        run.advance(61).await;
        let sent = to_token(&token, n);
        let (answer, _) = join(signal(&other, &sent), cx.wake()).await;
        let timeouts = run.log().await.count("step:wait_timed_out a");
        match answer {
            Signalled::Delivered(_) => assert_eq!(timeouts, 0),
            Signalled::Buffered => {
                assert_eq!(timeouts, 1);
                let [task] = run.take(["a#0"]).await;
                run.apply(&task, waits(hook(&token))).await;
            }
            answer => panic!("{answer:?}"),
        }
        run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    }
}

async fn cancelling(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let other = cx.another().await;
    for n in 0..cx.rounds(20, 300) {
        let run = cx.start(&flow, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        let token = cx.announce(&task).await.expect("it holds");
        run.apply(&task, waits(hook(&token))).await;
        let sent = to_token(&token, n);
        let (answer, _) = join(signal(&other, &sent), run.cancel(None)).await;
        let status = run.record().await.status;
        match answer {
            Signalled::Delivered(_) => assert_eq!(status, RunStatus::Completed),
            Signalled::Gone => assert_eq!(status, RunStatus::Cancelled),
            answer => panic!("{answer:?}"),
        }
        assert_eq!(cx.waits(run.id).await, []);
    }
}

async fn children(cx: Arc<Cx>) {
    let inner = cx.flow([single("x")]).await;
    let outer = cx.flow([single("a")]).await;
    let clients = join_all((0..4).map(|_| cx.another())).await;
    for _ in 0..cx.rounds(5, 50) {
        let run = cx.start(&outer, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        run.apply(&task, waits(runs_of(&inner, 0..12))).await;
        run.children(&inner).await;
        let tasks = cx.claim(&inner).await;
        assert_eq!(tasks.len(), 12);
        let end = |(n, task): (usize, &pgflow_runtime::backend::ClaimedTask)| {
            let client = &clients[n % clients.len()];
            let settle =
                pgflow_machine::Settle { lease: task.lease.clone().into(), verdict: completed(n) };
            async move { client.settle(&[settle], None).await.expect("it can be settled") }
        };
        join_all(tasks.iter().enumerate().map(end)).await;
        run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    }
}
