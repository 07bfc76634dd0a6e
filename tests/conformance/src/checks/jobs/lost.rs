//! Claims whose answer got lost, and hints.

use std::sync::Arc;
use std::time::Duration;

use pgflow_runtime::backend::{Topic, Wake};
use tokio::time::timeout;

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::{JobKit, done, hand_over};

pub(crate) const CHECKS: &[Check] = &[
    check!("J35", "what a worker does not know it has is given back, uncounted", unknown, Jobs),
    check!("J36", "a job that can be had is hinted at, by its need", hints, Jobs),
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

/// Waits for a hint about this need, or about everything.
async fn hinted(wakes: &mut pgflow_runtime::backend::Wakes, need: &str) {
    let wait = async {
        loop {
            match wakes.next().await {
                Wake::Topic(Topic::Need(hinted)) if &*hinted == need => return,
                Wake::Gap => return,
                Wake::Topic(_) => {}
            }
        }
    };
    timeout(Duration::from_secs(20), wait).await.expect("a hint");
}

async fn hints(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let mut wakes = cx.backend().wakes();
    kit.submit(&[kit.job("a", "n")]).await;
    hinted(&mut wakes, &kit.name("n")).await;
    let a = kit.take("a", "n").await;
    kit.settle(&a, hand_over(&kit, "m", &[])).await;
    hinted(&mut wakes, &kit.name("m")).await;
    let a = kit.take("a", "m").await;
    kit.settle(&a, done()).await;
}
