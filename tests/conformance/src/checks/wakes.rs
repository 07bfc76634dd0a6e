//! Hints: they may get lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pgflow_machine::RunStatus;
use pgflow_runtime::backend::Wake;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C60", "work is found without any hint", without_hints),
    check!("C62", "hints that nobody reads hold nobody up", nobody_listens),
    check!("K18", "new work is hinted at, or said to have been missed", hinted),
];

async fn without_hints(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let other = cx.another().await;
    let run = cx.start(&flow, json!({})).await;
    let tasks = other.claim(&cx.wish(&flow, 1)).await.expect("work can be claimed").tasks;
    run.done(&tasks[0], 1).await;
    let tasks = other.claim(&cx.wish(&flow, 1)).await.expect("work can be claimed").tasks;
    run.done(&tasks[0], 1).await;
    run.expect_state(RunStatus::Completed, &["a:completed", "b:completed"]).await;
    run.expect_log_end(&["run:completed {\"b\":1}"]).await;
}

async fn nobody_listens(cx: Arc<Cx>) {
    let flow = cx.flow([]).await;
    let mut wakes = cx.backend().wakes();
    for n in 0..cx.rounds(100, 10_000) {
        cx.start(&flow, json!(n)).await;
    }
    let first = tokio::time::timeout(Duration::from_mins(1), wakes.next()).await;
    first.expect("what was missed is told at once");
    let last = cx.start(&flow, json!({})).await;
    last.expect_log(&["run:started {}", "run:completed null"]).await;
}

/// On the same connection, where a hint is cheap, and on another.
async fn hinted(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let other = cx.another().await;
    let mut wakes = [cx.backend().wakes(), other.wakes()];
    // Whoever begins to listen may be told that he missed something.
    tokio::time::sleep(Duration::from_millis(200)).await;
    cx.start(&flow, json!({})).await;
    for wakes in &mut wakes {
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let wake = tokio::time::timeout(left, wakes.next()).await.expect("a hint");
            if wake == Wake::Gap || wake == Wake::queue(flow.as_str()) {
                break;
            }
        }
    }
}
