//! Waits of runs that are retried, listed and deleted.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::RunStatus;
use pgflow_machine::wait::{NewWait, Signalled};
use pgflow_runtime::backend::{Retried, RunQuery, WaitQuery};
use pgflow_runtime::{ChildStatus, Outcome};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::waits::{hook, of, run_of, runs_of, to_token, waits};
use crate::kit::{Cx, StepExt, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("W70", "a failed run that goes on asks again, with the same token", retried, Waits),
    check!("W71", "a run that waits is open, and is never pruned", listed, Waits),
    check!("W72", "a child is kept while somebody waits for others with it", pruned, Waits),
    check!("W73", "waits are listed in pages, the oldest first", pages, Waits),
    check!(
        "W74",
        "children go with a deleted version, unless detached; who waits is told",
        deleted,
        Waits
    ),
];

async fn retried(cx: Arc<Cx>) {
    let inner = cx.flow([single("x")]).await;
    let flow = cx.flow([single("a").attempts(1), single("b").attempts(1), single("c")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a, b, c] = run.take(["a#0", "b#0", "c#0"]).await;
    let token = cx.announce(&a).await.expect("it holds");
    run.apply(&a, waits(hook(&token))).await;
    run.apply(&c, waits(run_of(&inner, 1))).await;
    let child = run.child_of("c", &inner).await;
    run.fail(&b, "boom").await;
    child.expect_state(RunStatus::Cancelled, &["x:started"]).await;
    assert_eq!(run.retry().await, Retried::Retried);
    let [a, b, c] = run.take(["a#0", "b#0", "c#0"]).await;
    assert_eq!((a.lease.attempt, c.lease.attempt), (2, 2), "the attempt was given back");
    assert_eq!(cx.announce(&a).await, Some(token.clone()));
    run.apply(&a, waits(hook(&token))).await;
    let signalled = cx.signal(&to_token(&token, 1)).await;
    assert_eq!(signalled, Signalled::Delivered(a.lease.task));
    run.done(&b, 2).await;
    run.done(&c, 3).await;
    run.expect_state(RunStatus::Completed, &["a:completed", "b:completed", "c:completed"]).await;
}

async fn listed(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let (run, token) = (cx.start(&flow, json!({})).await, cx.token());
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(hook(&token))).await;
    cx.age(&flow, 1_000_000).await;
    let query = RunQuery {
        flows: vec![flow.clone()],
        statuses: vec![RunStatus::Started],
        ..RunQuery::default()
    };
    let open = cx.backend().list(&query).await.expect("runs can be listed");
    assert_eq!(open.iter().map(|run| run.id).collect::<Vec<_>>(), [run.id]);
    cx.backend().prune(Duration::from_secs(1000), 1000).await.expect("old runs can be pruned");
    assert_eq!(cx.waits(run.id).await.len(), 1);
    let signal = to_token(&token, 1).resume_id("one");
    cx.signal(&signal).await;
    assert_eq!(cx.signal(&signal).await, Signalled::Duplicate);
    cx.age(&flow, 1_000_000).await;
    cx.backend().prune(Duration::from_secs(1000), 1000).await.expect("old runs can be pruned");
    assert_eq!(cx.signal(&signal).await, Signalled::Buffered, "nobody remembers it");
}

async fn pruned(cx: Arc<Cx>) {
    let inner = cx.flow([single("x")]).await;
    let outer = cx.flow([single("a")]).await;
    let run = cx.start(&outer, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(runs_of(&inner, [0, 1]))).await;
    let children = run.children(&inner).await;
    let tasks = cx.claim(&inner).await;
    let [first, second] = children[0].split(&tasks, &children[1]);
    children[0].done(&first, "old").await;
    cx.age(&inner, 1_000_000).await;
    let old = Duration::from_secs(1000);
    let prune = async |max| cx.backend().prune(old, max).await.expect("old runs can be pruned");
    prune(1_000_000).await; // What other checks have left.
    let prunable = async || cx.backend().prunable(old, 1000).await.expect("they can be counted");
    assert_eq!(prunable().await, 0, "it is kept, and not counted");
    // One that could go does not have to wait behind it.
    let other = cx.start(&inner, json!({})).await;
    other.cancel(None).await;
    cx.age(&inner, 1_000_000).await;
    assert_eq!(prunable().await, 1);
    assert_eq!(prune(1).await, 1);
    children[0].expect_state(RunStatus::Completed, &["x:completed"]).await;
    children[1].done(&second, "new").await;
    let output = json!({ "a": [{ "x": "old" }, { "x": "new" }] });
    assert_eq!(run.record().await.output, Some(output));
}

async fn pages(cx: Arc<Cx>) {
    let flow = cx.flow([single("each").map()]).await;
    let run = cx.start(&flow, json!([0, 1, 2, 3, 4])).await;
    for task in cx.claim(&flow).await {
        run.apply(&task, waits(hook(&cx.token()))).await;
    }
    let all = cx.waits(run.id).await;
    assert_eq!(all.len(), 5);
    assert!(all.is_sorted_by_key(|wait| (wait.since, wait.task.clone())));
    let mut query = WaitQuery { run: Some(run.id), max: 2, ..WaitQuery::default() };
    let mut found = Vec::new();
    loop {
        let page = of(&cx.backend()).list_waits(&query).await.expect("waits can be listed");
        let Some(last) = page.last() else { break };
        query.after = Some((last.since, last.task.clone()));
        found.extend(page);
    }
    assert_eq!(found, all);
}

async fn deleted(cx: Arc<Cx>) {
    let inner = cx.flow([single("x")]).await;
    let outer = cx.flow([single("a"), single("b")]).await;
    let run = cx.start(&outer, json!({})).await;
    let [a, b] = run.take(["a#0", "b#0"]).await;
    run.apply(&a, waits(run_of(&inner, 1))).await;
    run.apply(&b, waits(NewWait { detached: true, ..run_of(&inner, 2) })).await;
    let [orphan, detached] = [run.child_of("a", &inner).await, run.child_of("b", &inner).await];
    cx.delete_version(&outer).await;
    cx.wake().await;
    let record = orphan.expect_state(RunStatus::Cancelled, &["x:started"]).await;
    let reason = format!("parent run {} no longer waits for it", run.id);
    assert_eq!(record.cancel_reason, Some(reason));
    detached.expect_state(RunStatus::Started, &["x:started"]).await;

    let waiting = cx.flow([single("c").attempts(1)]).await;
    let [parent, asking] = [cx.start(&waiting, 1).await, cx.start(&waiting, 2).await];
    let [c, other] = parent.split(&cx.claim(&waiting).await, &asking);
    parent.apply(&c, waits(run_of(&inner, 3))).await;
    asking.apply(&other, waits(NewWait { outcomes: true, ..run_of(&inner, 4) })).await;
    let child = parent.child(&inner).await;
    cx.delete_version(&inner).await;
    cx.wake().await;
    let record = parent.expect_state(RunStatus::Failed, &["c:failed"]).await;
    let error = record.steps.iter().find_map(|step| step.error.clone());
    assert_eq!(error, Some(format!("child run {} was deleted", child.id)));
    let record = asking.expect_state(RunStatus::Completed, &["c:completed"]).await;
    let output = record.output.expect("it is completed")["c"].clone();
    let outcome: Outcome<u8> = serde_json::from_value(output).expect("what a step reads");
    let error = outcome.into_result().expect_err("it was deleted");
    assert_eq!((error.status, &*error.message), (ChildStatus::Deleted, ""));
}
