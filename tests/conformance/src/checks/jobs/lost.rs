//! Claims whose answer got lost, and hints.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use pgflow_machine::job::Wait;
use pgflow_runtime::backend::Wake;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::jobs::{JobKit, done, hand_over, hinted};
use crate::kit::{Cx, completed, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("J35", "what a worker does not know it has is given back, uncounted", unknown, Jobs),
    check!("J36", "a job that can be had is hinted at, by its need", hints, Jobs),
    check!("J42", "what others free is hinted at in another process", hinted_elsewhere, Processes),
];

async fn unknown(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&["a", "b", "c"].map(|name| kit.job(name, "n"))).await;
    let mine = format!("{} lost", kit.name("worker"));
    let mut claim = kit.wish(&["n"], 2);
    claim.worker.clone_from(&mine);
    let claimed = kit.jobs().claim_jobs(&claim).await.expect("a claim").jobs;
    let other = kit.take("c", "n").await;
    let known = [claimed[0].taken.hold.clone()];
    let release = || kit.jobs().release_unknown_jobs(&mine, &known);
    assert_eq!(release().await.expect("an answer"), 1);
    assert_eq!(release().await.expect("an answer"), 0, "once");
    kit.expect(&[("a", "ACTIVE"), ("b", "READY"), ("c", "ACTIVE")]).await;
    assert_eq!(kit.record("b").await.summary.row.attempts, 0);
    kit.finish(&known[0]).await;
    kit.finish(&other).await;
    assert_eq!(kit.jobs().release_unknown_jobs(&mine, &[]).await.expect("an answer"), 0);
    kit.take("b", "n").await;
}

/// A waiter of a job, a waiter of a run, and the next in line for a key.
async fn hinted_elsewhere(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    kit.submit(&[
        kit.keyed("a", "n", "k"),
        kit.keyed("b", "of key", "k"),
        kit.after("c", "of job", &[kit.on("a")]),
        kit.after("d", "of run", &[Wait::run(run.id)]),
    ])
    .await;
    let a = kit.take("a", "n").await;
    let [task] = run.take(["a#0"]).await;
    let other = cx.another().await;
    let mut wakes = [other.wakes(), other.wakes(), other.wakes()];
    // Whoever begins to listen may be told that he missed something.
    tokio::time::sleep(Duration::from_millis(200)).await;
    for wakes in &mut wakes {
        while wakes.next().now_or_never().is_some() {}
    }
    kit.finish(&a).await;
    hinted(&cx, &mut wakes[0], &Wake::need(kit.name("of key"))).await;
    hinted(&cx, &mut wakes[1], &Wake::need(kit.name("of job"))).await;
    cx.settle(&task.lease, completed(1)).await;
    hinted(&cx, &mut wakes[2], &Wake::need(kit.name("of run"))).await;
}

async fn hints(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let mut wakes = cx.backend().wakes();
    kit.submit(&[kit.job("a", "n")]).await;
    hinted(&cx, &mut wakes, &Wake::need(kit.name("n"))).await;
    let a = kit.take("a", "n").await;
    kit.settle(&a, hand_over(&kit, "m", &[])).await;
    hinted(&cx, &mut wakes, &Wake::need(kit.name("m"))).await;
    let a = kit.take("a", "m").await;
    kit.settle(&a, done()).await;
}
