//! Children that do not end well, and parents that do not.

use std::sync::Arc;

use pgflow_machine::RunStatus;
use pgflow_machine::wait::NewWait;
use pgflow_model::OnSkip;
use pgflow_runtime::backend::TaskQuery;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::waits::{run_of, runs_of, timeout, waits};
use crate::kit::{Cx, Run, StepExt, names, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("W40", "a child that fails fails the attempt; a retry starts another", fails, Waits),
    check!("W41", "one that fails has the others cancelled", others, Waits),
    check!("W42", "outcomes that were asked for are the output", outcomes, Waits),
    check!(
        "W43",
        "children go with the run that waits for them, unless detached",
        cancelled,
        Waits
    ),
    check!("W44", "children go when their step is exhausted or times out", step_ends, Waits),
];

async fn error_of(run: &Run) -> String {
    let tasks = run.cx.backend().tasks(run.id, "a", &TaskQuery::default()).await;
    tasks.expect("its tasks")[0].error.clone().unwrap_or_default()
}

async fn fails(cx: Arc<Cx>) {
    let inner = cx.flow([single("x").attempts(1)]).await;
    let outer = cx.flow([single("a").attempts(2)]).await;
    let run = cx.start(&outer, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(run_of(&inner, 1))).await;
    let first = run.child(&inner).await;
    let [x] = first.take(["x#0"]).await;
    first.fail(&x, "boom").await;
    assert_eq!(error_of(&run).await, format!("child run {} failed: boom", first.id));
    let [task] = run.take(["a#0"]).await;
    assert_eq!(task.lease.attempt, 2);
    run.apply(&task, waits(run_of(&inner, 1))).await;
    let second = run.child(&inner).await;
    assert_ne!(first.id, second.id);
    second.cancel(Some("enough")).await;
    let error = format!("child run {} was cancelled: enough", second.id);
    assert_eq!(error_of(&run).await, error);
    run.expect_state(RunStatus::Failed, &["a:failed"]).await;
    run.expect_log_end(&[
        "step:woken a 0",
        &format!("step:failed a {error}"),
        &format!("run:failed {error}"),
    ])
    .await;
}

async fn others(cx: Arc<Cx>) {
    let inner = cx.flow([single("x").attempts(1)]).await;
    let outer = cx.flow([single("a").attempts(2)]).await;
    let run = cx.start(&outer, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(runs_of(&inner, [0, 1, 2]))).await;
    let children = run.children(&inner).await;
    let tasks = cx.claim(&inner).await;
    let of = |child: &Run| tasks.iter().find(|task| task.lease.task.run == child.id).expect("one");
    children[0].done(of(&children[0]), 0).await;
    children[1].fail(of(&children[1]), "boom").await;
    assert_eq!(error_of(&run).await, format!("child run {} failed: boom", children[1].id));
    let record = children[2].expect_state(RunStatus::Cancelled, &["x:started"]).await;
    let reason = format!("parent run {} no longer waits for it", run.id);
    assert_eq!(record.cancel_reason, Some(reason));
    children[0].expect_state(RunStatus::Completed, &["x:completed"]).await;
    run.take(["a#0"]).await;
}

async fn outcomes(cx: Arc<Cx>) {
    let inner = cx.flow([single("x").attempts(1)]).await;
    let outer = cx.flow([single("a")]).await;
    let run = cx.start(&outer, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    let wait = NewWait { outcomes: true, ..runs_of(&inner, [0, 1, 2]) };
    run.apply(&task, waits(wait)).await;
    let children = run.children(&inner).await;
    let tasks = cx.claim(&inner).await;
    let of = |child: &Run| tasks.iter().find(|task| task.lease.task.run == child.id).expect("one");
    children[0].fail(of(&children[0]), "boom").await;
    children[1].done(of(&children[1]), 1).await;
    run.expect_state(RunStatus::Started, &["a:started"]).await;
    children[2].cancel(None).await;
    let output = json!({ "a": [
        { "error": { "status": "failed", "message": "boom" } },
        { "ok": { "x": 1 } },
        { "error": { "status": "cancelled", "message": "" } },
    ] });
    assert_eq!(run.record().await.output, Some(output));
}

async fn cancelled(cx: Arc<Cx>) {
    let inner = cx.flow([single("x")]).await;
    let outer = cx.flow([single("a"), single("b").attempts(1)]).await;
    for (detached, fails) in [(false, false), (false, true), (true, false)] {
        let run = cx.start(&outer, json!({})).await;
        let [a, b] = run.take(["a#0", "b#0"]).await;
        run.apply(&a, waits(NewWait { detached, ..run_of(&inner, 1) })).await;
        let child = run.child(&inner).await;
        let [x] = child.take(["x#0"]).await;
        if fails {
            run.fail(&b, "boom").await;
        } else {
            run.cancel(None).await;
        }
        if detached {
            child.done(&x, 1).await;
            child.expect_state(RunStatus::Completed, &["x:completed"]).await;
            continue;
        }
        let record = child.expect_state(RunStatus::Cancelled, &["x:started"]).await;
        let how = if fails { "failed" } else { "was cancelled" };
        assert_eq!(record.cancel_reason, Some(format!("parent run {} {how}", run.id)));
        assert_eq!(cx.waits(run.id).await, []);
    }
}

async fn step_ends(cx: Arc<Cx>) {
    let inner = cx.flow([single("x")]).await;
    let step = single("a").attempts(1).exhausted(OnSkip::Skip);
    let outer = cx.flow([step, single("b")]).await;
    let run = cx.start(&outer, json!({})).await;
    let [a, _] = run.take(["a#0", "b#0"]).await;
    run.apply(&a, waits(timeout(60, run_of(&inner, 1)))).await;
    let child = run.child(&inner).await;
    run.advance(61).await;
    cx.wake().await;
    run.expect_state(RunStatus::Started, &["a:skipped", "b:started"]).await;
    child.expect_state(RunStatus::Cancelled, &["x:started"]).await;
    assert_eq!(names(&cx.claim(&inner).await), [""; 0]);
}
