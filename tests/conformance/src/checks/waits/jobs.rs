//! Jobs that are waited for.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::wait::{MAX_COMPARISONS, NewWait};
use pgflow_machine::{RunStatus, Settled};
use pgflow_runtime::backend::TaskQuery;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::jobs::JobKit;
use crate::kit::waits::{jobs_of, waits};
use crate::kit::{Cx, Run, StepExt, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("W50", "the outputs of jobs are the step's", outputs, Waits),
    check!("W51", "a job that does not end well fails the attempt", fails, Waits),
    check!("W52", "jobs go with the run that waits for them", cancelled, Waits),
    check!("W53", "a job that has ended before is not waited for", ended_before, Waits),
    check!("W54", "a job is kept while somebody waits for others with it", pruned, Waits),
    check!("W55", "a job that others wait for goes on without the one who does not", shared, Waits),
    check!("W56", "an attempt that is fenced or was lost submits no job", fenced, Waits),
    check!(
        "W57",
        "what the step cannot read of jobs fails the attempt, at its place",
        unread,
        Waits
    ),
];

/// A run whose only step waits for the jobs `one` and `two`.
async fn waits_for_two(cx: &Arc<Cx>, kit: &JobKit) -> Run {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(jobs_of([kit.job("one", "n"), kit.job("two", "n")]))).await;
    run
}

async fn outputs(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let run = waits_for_two(&cx, &kit).await;
    let first = kit.take("one", "n").await;
    let second = kit.take("two", "n").await;
    kit.finish_with(&second, json!(2)).await;
    run.expect_state(RunStatus::Started, &["a:started"]).await;
    kit.finish_with(&first, json!(1)).await;
    assert_eq!(run.record().await.output, Some(json!({ "a": [1, 2] })));
    run.expect_log_end(&[
        "step:waiting a 0 jobs",
        "step:woken a 0",
        "step:completed a [1,2]",
        "run:completed {\"a\":[1,2]}",
    ])
    .await;
}

async fn fails(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a").attempts(1)]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(jobs_of([kit.job("one", "n"), kit.job("two", "n")]))).await;
    let first = kit.take("one", "n").await;
    kit.fail_for_good(&first, "boom").await;
    let record = run.expect_state(RunStatus::Failed, &["a:failed"]).await;
    let error = format!("child job {} failed: boom", kit.id("one"));
    assert_eq!(record.steps[0].error, Some(error));
    assert_eq!(kit.names(&["n"], 10).await, [""; 0], "the other one is cancelled");
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    let wait = NewWait { outcomes: true, ..jobs_of([kit.job("three", "n")]) };
    run.apply(&task, waits(wait)).await;
    let third = kit.take("three", "n").await;
    kit.fail_for_good(&third, "boom").await;
    let failed = json!({ "error": { "status": "failed", "message": "boom" } });
    assert_eq!(run.record().await.output, Some(json!({ "a": [failed] })));
}

async fn fenced(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [lost] = run.take(["a#0"]).await;
    assert_eq!(kit.names(&["n"], 10).await, [""; 0], "it has not said yet that it waits");
    run.advance(200).await;
    assert_eq!(cx.sweep().await, 1, "its worker is gone");
    let [task] = run.take(["a#0"]).await;
    let late = waits(jobs_of([kit.job("late", "n")]));
    assert_eq!(cx.settle(&lost.lease, late).await, Settled::Fenced);
    assert_eq!(kit.names(&["n"], 10).await, [""; 0], "no job was submitted");
    run.apply(&task, waits(jobs_of([kit.job("one", "n")]))).await;
    let again = waits(jobs_of([kit.job("again", "n")]));
    assert_eq!(cx.settle(&task.lease, again).await, Settled::AlreadySettled);
    let one = kit.take("one", "n").await;
    assert_eq!(kit.names(&["n"], 10).await, [""; 0], "one, once");
    kit.finish_with(&one, json!(1)).await;
    assert_eq!(run.record().await.output, Some(json!({ "a": [1] })));
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.cancel(None).await;
    let over = waits(jobs_of([kit.job("over", "n")]));
    assert_eq!(cx.settle(&task.lease, over).await, Settled::RunEnded);
    assert_eq!(kit.names(&["n"], 10).await, [""; 0], "no job was submitted");
}

async fn cancelled(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(jobs_of([kit.job("one", "n")]))).await;
    run.cancel(None).await;
    assert_eq!(kit.names(&["n"], 10).await, [""; 0]);
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    let bad = pgflow_machine::job::NewJob { max_attempts: Some(0), ..kit.job("bad", "n") };
    run.apply(&task, waits(jobs_of([kit.job("good", "n"), bad]))).await;
    let tasks = cx.backend().tasks(run.id, "a", &TaskQuery::default()).await.expect("its tasks");
    let error = tasks[0].error.clone().unwrap_or_default();
    assert!(error.contains("max_attempts"), "{error}");
    assert_eq!(kit.names(&["n"], 10).await, [""; 0], "not even the one that could be");
}

async fn shared(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a")]).await;
    let mut runs = Vec::new();
    for input in 0..3 {
        let run = cx.start(&flow, input).await;
        let [task] = run.take(["a#0"]).await;
        run.apply(&task, waits(jobs_of([kit.job("one", "n")]))).await;
        runs.push(run);
    }
    runs[0].cancel(None).await;
    kit.expect(&[("one", "READY")]).await;
    runs[1].cancel(None).await;
    kit.expect(&[("one", "READY")]).await;
    let hold = kit.take("one", "n").await;
    kit.finish_with(&hold, json!(7)).await;
    assert_eq!(runs[2].record().await.output, Some(json!({ "a": [7] })));
    // A job that waits counts as well; without one, who gives up last takes it along.
    for (name, is_wanted) in [("two", true), ("three", false)] {
        let run = cx.start(&flow, json!({})).await;
        let [task] = run.take(["a#0"]).await;
        run.apply(&task, waits(jobs_of([kit.job(name, "n")]))).await;
        if is_wanted {
            kit.submit(&[kit.after("waiter", "n", &[kit.on(name)])]).await;
        }
        run.cancel(None).await;
        kit.expect(&[(name, if is_wanted { "READY" } else { "cancelled" })]).await;
    }
}

async fn unread(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a").attempts(2), single("b").after("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let schema = json!({ "type": "array", "items": { "type": "integer" } });
    for (attempt, output) in [json!("two"), json!(2)].into_iter().enumerate() {
        let names = [format!("one{attempt}"), format!("two{attempt}")];
        let [task] = run.take(["a#0"]).await;
        let wait = jobs_of(names.each_ref().map(|name| kit.job(name, "n")));
        run.apply(&task, waits(NewWait { schema: Some(schema.clone()), ..wait })).await;
        for (name, output) in names.iter().zip([json!(1), output]) {
            let hold = kit.take(name, "n").await;
            kit.finish_with(&hold, output).await;
        }
        if attempt == 0 {
            let tasks =
                cx.backend().tasks(run.id, "a", &TaskQuery::default()).await.expect("its tasks");
            let error = "cannot read what it waited for at /1: expected integer, found string";
            assert_eq!(tasks[0].error.as_deref(), Some(error));
            assert_eq!(cx.waits(run.id).await.len(), 0, "nothing more will come");
            run.advance(100).await;
        }
    }
    run.expect_state(RunStatus::Started, &["a:completed", "b:started"]).await;
    unread_outcome(&cx, &kit).await;
    too_much_to_look_at(&cx, &kit).await;
}

/// How the jobs ended is looked at, too; the last attempt fails the run.
async fn unread_outcome(cx: &Arc<Cx>, kit: &JobKit) {
    let flow = cx.flow([single("a").attempts(1)]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    let ok = json!({ "required": ["ok"], "properties": { "ok": { "type": "integer" } } });
    let failed = json!({ "required": ["error"], "properties": { "error": { "type": "object" } } });
    let schema = json!({ "items": { "oneOf": [ok, failed] } });
    let jobs = jobs_of([kit.job("three", "n"), kit.job("four", "n")]);
    run.apply(&task, waits(NewWait { schema: Some(schema), outcomes: true, ..jobs })).await;
    let third = kit.take("three", "n").await;
    kit.fail_for_good(&third, "boom").await;
    let fourth = kit.take("four", "n").await;
    kit.finish_with(&fourth, json!("x")).await;
    let record = run.expect_state(RunStatus::Failed, &["a:failed"]).await;
    let error = "cannot read what it waited for at /1/ok: expected integer, found string";
    assert_eq!(record.steps[0].error.as_deref(), Some(error));
}

/// Many jobs put out more than answers may be: what is not looked at is taken as it is.
async fn too_much_to_look_at(cx: &Arc<Cx>, kit: &JobKit) {
    let flow = cx.flow([single("a").attempts(1)]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    let schema = json!({ "items": { "items": { "type": "integer" } } });
    let jobs = jobs_of([kit.job("five", "n")]);
    run.apply(&task, waits(NewWait { schema: Some(schema), ..jobs })).await;
    let fifth = kit.take("five", "n").await;
    let many = json!(vec![1; MAX_COMPARISONS as usize]);
    kit.finish_with(&fifth, many.clone()).await;
    assert_eq!(run.record().await.output, Some(json!({ "a": [many] })));
}

async fn ended_before(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&[kit.job("one", "n")]).await;
    let hold = kit.take("one", "n").await;
    kit.finish_with(&hold, json!("done")).await;
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [task] = run.take(["a#0"]).await;
    run.apply(&task, waits(jobs_of([kit.job("one", "n")]))).await;
    assert_eq!(run.record().await.output, Some(json!({ "a": ["done"] })));
}

async fn pruned(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let run = waits_for_two(&cx, &kit).await;
    let first = kit.take("one", "n").await;
    kit.finish_with(&first, json!("old")).await;
    kit.pass(10_000).await;
    forget_old_jobs(&kit).await;
    kit.expect(&[("one", "done")]).await;
    let second = kit.take("two", "n").await;
    kit.finish_with(&second, json!("new")).await;
    assert_eq!(run.record().await.output, Some(json!({ "a": ["old", "new"] })));
    kit.pass(10_000).await;
    forget_old_jobs(&kit).await;
    let is_there = kit.jobs().job(&kit.id("one")).await.expect("a look").is_some();
    assert!(!is_there, "nobody waits for it any more");
}

/// All that may be forgotten: none is counted that stays.
async fn forget_old_jobs(kit: &JobKit) {
    let old = Duration::from_secs(5_000);
    while kit.jobs().prune_jobs(old, 100).await.expect("jobs can be pruned") > 0 {}
    assert_eq!(kit.upkeep().prunable_jobs(old, 100).await.expect("a count"), 0);
}
