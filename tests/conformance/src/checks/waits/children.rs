//! Runs that are waited for.

use std::sync::Arc;

use pgflow_machine::wait::{Awaited, NewWait};
use pgflow_machine::{RunStatus, Settle, Settled};
use pgflow_runtime::backend::{ClaimedTask, TaskQuery};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::waits::{child, run_of, runs_of, waits};
use crate::kit::{Cx, StepExt, fatal, names, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("W30", "a child's output is its parent step's", passes_on, Waits),
    check!("W31", "the outputs of several are an array; none are none", each, Waits),
    check!("W32", "an attempt that is fenced starts no child", fenced, Waits),
    check!(
        "W33",
        "a child that cannot be started fails the attempt, and no other starts",
        refused,
        Waits
    ),
    check!("W34", "a chain of parents goes on by itself", chain, Waits),
    check!("W35", "a child that ends as it starts is not waited for", at_once, Waits),
    check!("W36", "a wait whose run ends with its batch starts no child", ends_first, Waits),
];

async fn passes_on(cx: Arc<Cx>) {
    let inner = cx.flow([single("x")]).await;
    let outer = cx.flow([single("a"), single("b").after("a")]).await;
    let run = cx.start(&outer, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(run_of(&inner, json!({ "n": 7 })))).await;
    let again = cx.settle(&task.lease, waits(run_of(&inner, 8))).await;
    assert_eq!(again, Settled::AlreadySettled);
    let child = run.child(&inner).await;
    let [x] = child.take(["x#0"]).await;
    assert_eq!(x.input, json!({ "run": { "n": 7 } }));
    assert_eq!(names(&cx.claim(&outer).await), [""; 0]);
    child.done(&x, 49).await;
    let [next] = run.take(["b#0"]).await;
    assert_eq!(next.input["a"], json!({ "x": 49 }));
    run.expect_log_end(&[
        "step:waiting a 0 runs",
        "step:woken a 0",
        "step:completed a {\"x\":49}",
        "step:started b 1",
    ])
    .await;
}

async fn each(cx: Arc<Cx>) {
    let inner = cx.flow([single("x")]).await;
    let outer = cx.flow([single("a")]).await;
    let run = cx.start(&outer, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(runs_of(&inner, [3, 4, 5]))).await;
    let mut children = run.children(&inner).await;
    let mut tasks = cx.claim(&inner).await;
    // The last one first: their places count, not when they end.
    tasks.sort_by_key(|task| -task.input["run"].as_i64().expect("a number"));
    for task in tasks {
        run.expect_state(RunStatus::Started, &["a:started"]).await;
        let child = children.pop().expect("a child per task");
        assert_eq!(child.id, task.lease.task.run);
        child.done(&task, task.input["run"].clone()).await;
    }
    let output = json!({ "a": [{ "x": 3 }, { "x": 4 }, { "x": 5 }] });
    assert_eq!(run.record().await.output, Some(output));
    let run = cx.start(&outer, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(runs_of(&inner, []))).await;
    assert_eq!(run.record().await.output, Some(json!({ "a": [] })));
}

async fn fenced(cx: Arc<Cx>) {
    let (inner, outer) = (cx.flow([single("x")]).await, cx.flow([single("a")]).await);
    let run = cx.start(&outer, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.fail(&task, "boom").await;
    let [again] = run.take(["a#0"]).await;
    assert_eq!(cx.settle(&task.lease, waits(run_of(&inner, 1))).await, Settled::Fenced);
    assert_eq!(names(&cx.claim(&inner).await), [""; 0], "no child was started");
    run.cancel(None).await;
    assert_eq!(cx.settle(&again.lease, waits(run_of(&inner, 1))).await, Settled::RunEnded);
    assert_eq!(names(&cx.claim(&inner).await), [""; 0], "no child was started");
}

async fn ends_first(cx: Arc<Cx>) {
    let inner = cx.flow([single("x")]).await;
    let outer = cx.flow([single("a"), single("b")]).await;
    let run = cx.start(&outer, json!({})).await;
    let [a, b] = run.take(["a#0", "b#0"]).await;
    let settle = |task: &ClaimedTask, verdict| Settle { lease: task.lease.clone().into(), verdict };
    let batch = vec![settle(&a, waits(run_of(&inner, 1))), settle(&b, fatal("boom"))];
    assert_eq!(cx.settle_all(batch).await, [Settled::RunEnded, Settled::Applied]);
    assert_eq!(names(&cx.claim(&inner).await), [""; 0], "no child was started");
}

async fn refused(cx: Arc<Cx>) {
    let inner = cx.flow([single("x").map()]).await;
    let outer = cx.flow([single("a").attempts(1), single("b")]).await;
    let run = cx.start(&outer, json!({})).await;
    let [a, b] = run.take(["a#0", "b#0"]).await;
    let children = vec![child(&inner, json!([1])), child(&inner, json!(7))];
    let settles = vec![
        pgflow_machine::Settle {
            lease: a.lease.clone().into(),
            verdict: waits(NewWait::on(Awaited::Runs { children, each: true })),
        },
        pgflow_machine::Settle { lease: b.lease.clone().into(), verdict: crate::kit::completed(1) },
    ];
    assert_eq!(cx.settle_all(settles).await, [Settled::Applied, Settled::Applied]);
    assert_eq!(names(&cx.claim(&inner).await), [""; 0], "not even the one that could be");
    let record = run.expect_state(RunStatus::Failed, &["a:failed", "b:completed"]).await;
    let error = record.steps[0].error.clone().unwrap_or_default();
    assert!(error.contains("array"), "{error}");
    let run = cx.start(&outer, json!({})).await;
    let [a, _] = run.take(["a#0", "b#0"]).await;
    run.apply(&a, waits(run_of("there_is_no_such_flow", 1))).await;
    let tasks = cx.backend().tasks(run.id, "a", &TaskQuery::default()).await.expect("its tasks");
    let error = tasks[0].error.clone().unwrap_or_default();
    assert!(error.contains("there_is_no_such_flow"), "{error}");
}

async fn chain(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let top = cx.start(&flow, 0).await;
    let mut run = top.clone();
    for depth in 1..4 {
        let [task] = run.take(["a#0"]).await;
        run.apply(&task, waits(run_of(&flow, depth))).await;
        run = run.child(&flow).await;
    }
    let [task] = run.take(["a#0"]).await;
    run.done(&task, "deep").await;
    let output = json!({ "a": { "a": { "a": { "a": "deep" } } } });
    assert_eq!(top.record().await.output, Some(output));
}

async fn at_once(cx: Arc<Cx>) {
    let inner = cx.flow([single("x").map()]).await;
    let outer = cx.flow([single("a")]).await;
    let run = cx.start(&outer, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(run_of(&inner, json!([])))).await;
    assert_eq!(run.record().await.output, Some(json!({ "a": { "x": [] } })));
}
