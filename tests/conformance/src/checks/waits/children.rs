//! Runs that are waited for.

use std::sync::Arc;

use pgflow_machine::wait::{Awaited, CHILD_BYTES, CHILDREN_AT_MOST, NewWait};
use pgflow_machine::{RunStatus, Settle, Settled};
use pgflow_runtime::backend::{ClaimedTask, TaskQuery};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::waits::{child, run_of, runs_of, waits};
use crate::kit::{Cx, StepExt, completed, fatal, names, single};

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
    check!("W37", "a task waits for more than a thousand runs, which end at once", wide, Waits),
    check!("W38", "more runs than a task can wait for fail the attempt", too_many, Waits),
    check!("W39", "waits that are not over hold up no other", none_in_the_way, Waits),
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

async fn wide(cx: Arc<Cx>) {
    const MANY: i32 = 1_100;
    let inner = cx.flow([single("x")]).await;
    let outer = cx.flow([single("a")]).await;
    let run = cx.start(&outer, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(runs_of(&inner, 0..MANY))).await;
    let mut ends = Vec::new();
    while ends.len() < MANY.unsigned_abs() as usize {
        let tasks = cx.claim_as(&cx.wish(&inner, MANY.unsigned_abs())).await;
        assert!(!tasks.is_empty(), "{} of {MANY} were started", ends.len());
        ends.extend(tasks.iter().map(|task| {
            cx.remember(task.lease.task.run);
            Settle {
                lease: task.lease.clone().into(),
                verdict: completed(task.input["run"].clone()),
            }
        }));
    }
    cx.settle_all(ends).await;
    // By what was done for waits after the settle: no sweep comes.
    let record = run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    let expected: Vec<_> = (0..MANY).map(|number| json!({ "x": number })).collect();
    assert_eq!(record.output, Some(json!({ "a": expected })), "in their order");
}

async fn too_many(cx: Arc<Cx>) {
    let inner = cx.flow([single("x")]).await;
    let outer = cx.flow([single("a").attempts(1)]).await;
    let most = i32::try_from(CHILDREN_AT_MOST).expect("a number");
    let large = json!("x".repeat(cx.backend().limits().await.expect("limits").max_bytes - 2));
    let many = CHILD_BYTES / (large.as_str().map_or(0, str::len)) + 1;
    let heavy = std::iter::repeat_with(|| child(&inner, large.clone())).take(many).collect();
    let heavy = NewWait::on(Awaited::Runs { children: heavy, each: true });
    for (wait, why) in [
        (runs_of(&inner, 0..=most), "a task can wait for 10000 runs or jobs at most, not 10001"),
        (heavy, "bytes together, and the limit is 64000000"),
    ] {
        let run = cx.start(&outer, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        run.apply(&task, waits(wait)).await;
        run.expect_state(RunStatus::Failed, &["a:failed"]).await;
        let tasks = cx.backend().tasks(run.id, "a", &TaskQuery::default()).await.expect("tasks");
        let error = tasks[0].error.clone().unwrap_or_default();
        assert!(error.contains(why), "{error}");
        assert_eq!(names(&cx.claim(&inner).await), [""; 0], "none was started");
    }
}

/// So many that one round of a store is not enough.
async fn none_in_the_way(cx: Arc<Cx>) {
    const MANY: usize = 120;
    let inner = cx.flow([single("x")]).await;
    let outer = cx.flow([single("a")]).await;
    let mut runs = Vec::new();
    for children in [1].into_iter().chain(vec![2; MANY]).chain([1]) {
        let run = cx.start(&outer, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        run.apply(&task, waits(runs_of(&inner, 0..children))).await;
        let first = run.children(&inner).await.remove(0);
        runs.push((run, first.id));
    }
    let tasks = cx.claim_as(&cx.wish(&inner, 1_000)).await;
    let is_first =
        |task: &&ClaimedTask| runs.iter().any(|(_, first)| *first == task.lease.task.run);
    let end =
        |task: &ClaimedTask| Settle { lease: task.lease.clone().into(), verdict: completed(1) };
    let ends: Vec<_> = tasks.iter().filter(is_first).map(end).collect();
    assert_eq!(ends.len(), runs.len());
    cx.settle_all(ends).await;
    for (run, _) in [&runs[0], &runs[MANY + 1]] {
        run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    }
}
