//! Steps that share the transaction of their completion. What their SQL does is for the tests of those backends.

use std::sync::Arc;

use pgflow_machine::{RunStatus, Settle, Settled};
use pgflow_runtime::backend::Cancelled;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, completed, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("K40", "a transaction records its completion once", recorded, Transactions),
    check!("K41", "a transaction that is dropped records nothing", dropped, Transactions),
    check!("K42", "no transaction for a lease that is lost", lost, Transactions),
];

async fn recorded(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a] = run.take(["a#0"]).await;
    let tx = cx
        .backend()
        .begin(&a.lease.clone().into())
        .await
        .expect("a transaction")
        .expect("the lease holds");
    let settle = Settle { lease: a.lease.clone().into(), verdict: completed("A") };
    let settled = cx.backend().commit(tx, &settle).await.expect("a commit");
    assert_eq!(settled, Settled::Applied);
    assert!(
        cx.backend().begin(&a.lease.clone().into()).await.expect("an answer").is_none(),
        "it is done"
    );
    assert_eq!(cx.settle(&a.lease, completed("again")).await, Settled::AlreadySettled);
    run.expect_state(RunStatus::Started, &["a:completed", "b:started"]).await;
    run.expect_log_end(&["step:completed a \"A\"", "step:started b 1"]).await;
}

async fn dropped(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a] = run.take(["a#0"]).await;
    let opened =
        cx.backend().begin(&a.lease.clone().into()).await.expect("a transaction").is_some();
    assert!(opened, "the lease holds");
    run.expect_state(RunStatus::Started, &["a:started"]).await;
    run.fail(&a, "dropped").await;
    let [a] = run.take(["a#0"]).await;
    assert_eq!(a.lease.attempt, 2);
    run.done(&a, 1).await;
    run.expect_log_end(&["step:completed a 1", "run:completed {\"a\":1}"]).await;
}

async fn lost(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [zombie] = run.take(["a#0"]).await;
    run.advance(200).await;
    assert_eq!(cx.sweep().await, 1);
    assert!(
        cx.backend().begin(&zombie.lease.clone().into()).await.expect("an answer").is_none(),
        "queued"
    );
    let [alive] = run.take(["a#0"]).await;
    assert!(
        cx.backend().begin(&zombie.lease.clone().into()).await.expect("an answer").is_none(),
        "superseded"
    );
    assert_eq!(run.cancel(None).await, Cancelled::Cancelled);
    assert!(
        cx.backend().begin(&alive.lease.clone().into()).await.expect("an answer").is_none(),
        "cancelled"
    );
    run.expect_log_end(&["step:started a 1", "run:cancelled"]).await;
}
