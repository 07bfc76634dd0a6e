//! Lists of runs.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{RunId, RunStatus, Settled};
use pgflow_runtime::backend::{NewRun, Parts, RunQuery};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, completed, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("K30", "runs are listed by flow and status, the newest first", filters),
    check!("K31", "pages of a list are disjoint and leave nothing out", pages),
    check!("K32", "a run is read with as much as is asked for", parts),
    check!("K47", "many runs are looked at together, without those that are not there", together),
    check!("K50", "what ended long ago is deleted, and nothing that goes on", pruned),
    check!("K48", "what a step output is read page by page, once it has completed", outputs),
];

async fn list(cx: &Cx, query: &RunQuery) -> Vec<RunId> {
    let runs = cx.backend().list(query).await.expect("runs can be listed");
    let sorted =
        runs.is_sorted_by(|one, other| (one.started_at, one.id) > (other.started_at, other.id));
    assert!(sorted, "the newest first: {runs:?}");
    runs.iter().map(|run| run.id).collect()
}

async fn filters(cx: Arc<Cx>) {
    let (flow, other) = (cx.flow([single("a")]).await, cx.flow([single("a")]).await);
    let open = cx.start(&flow, json!(1)).await;
    let cancelled = cx.start(&flow, json!(2)).await;
    let elsewhere = cx.start(&other, json!(3)).await;
    cancelled.cancel(None).await;
    let of = |flows: &[&String], statuses: &[RunStatus]| RunQuery {
        flows: flows.iter().map(|flow| (*flow).clone()).collect(),
        statuses: statuses.to_vec(),
        ..RunQuery::default()
    };
    assert_eq!(list(&cx, &of(&[&flow], &[])).await, [cancelled.id, open.id]);
    assert_eq!(list(&cx, &of(&[&flow, &other], &[])).await, [elsewhere.id, cancelled.id, open.id]);
    assert_eq!(
        list(&cx, &of(&[&flow, &other], &[RunStatus::Started])).await,
        [elsewhere.id, open.id]
    );
    assert_eq!(list(&cx, &of(&[&flow], &[RunStatus::Completed])).await, []);
    assert_eq!(list(&cx, &of(&[&cx.name()], &[])).await, []);
    let all = list(&cx, &RunQuery { max: 3, ..RunQuery::default() }).await;
    assert_eq!(all, [elsewhere.id, cancelled.id, open.id], "the newest of all flows");
    let runs = cx.backend().list(&of(&[&flow], &[RunStatus::Cancelled])).await.expect("a list");
    assert_eq!((runs[0].status, runs[0].remaining_steps), (RunStatus::Cancelled, 1));
    assert_eq!(runs[0].flow, flow);
    assert!(runs[0].ended_at.is_some_and(|end| end >= runs[0].started_at));
}

async fn pages(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let mut started = Vec::new();
    for n in 0..7 {
        started.push(cx.start(&flow, json!(n)).await.id);
    }
    started.reverse();
    let mut query = RunQuery { flows: vec![flow], max: 3, ..RunQuery::default() };
    let mut listed = Vec::new();
    for size in [3, 3, 1, 0] {
        let page = cx.backend().list(&query).await.expect("a page");
        assert_eq!(page.len(), size);
        query.after = page.last().map(|run| (run.started_at, run.id)).or(query.after);
        listed.extend(page.into_iter().map(|run| run.id));
    }
    assert_eq!(listed, started);
}

async fn parts(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a")]).await;
    let run = cx.start(&flow, "in").await;
    let [a] = run.take(["a#0"]).await;
    run.done(&a, "out").await;
    let read = async |parts| cx.backend().run(run.id, parts).await.expect("read").expect("there");
    let whole = read(Parts::Outputs).await;
    assert_eq!(whole.steps[0].output, Some(json!("out")));
    assert_eq!((whole.id, &whole.flow, &whole.input), (run.id, &flow, &Some(json!("in"))));
    assert_eq!((whole.remaining_steps, whole.ended_at), (1, None));
    let steps = read(Parts::Steps).await;
    assert_eq!(steps.steps.len(), 2);
    assert!(steps.steps.iter().all(|step| step.output.is_none()), "no outputs");
    assert_eq!((&steps.input, &steps.output), (&None, &None), "nor what the run was given");
    assert_eq!(cx.backend().input(run.id).await.expect("read"), Some(json!("in")));
    assert_eq!(cx.backend().input(RunId::new()).await.expect("read"), None);
    assert_eq!(steps.steps[1].status, whole.steps[1].status);
    let alone = read(Parts::Run).await;
    assert_eq!(
        (alone.status, alone.steps.len(), alone.input),
        (RunStatus::Started, 0, Some(json!("in")))
    );
    assert_eq!((steps.steps[0].tasks, steps.steps[0].remaining_tasks), (Some(1), Some(0)));
    assert_eq!((steps.steps[1].tasks, steps.steps[1].remaining_tasks), (Some(1), Some(1)));
}

async fn together(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b")]).await;
    let (open, ended) = (cx.start(&flow, json!(1)).await, cx.start(&flow, json!(2)).await);
    ended.cancel(None).await;
    let look = async |runs: &[RunId]| {
        let mut found = cx.backend().statuses(runs).await.expect("a look");
        found.sort_by_key(|run| run.id);
        found
    };
    let found = look(&[open.id, RunId::new(), ended.id]).await;
    let query = RunQuery { flows: vec![flow], ..RunQuery::default() };
    let mut listed = cx.backend().list(&query).await.expect("a list");
    listed.sort_by_key(|run| run.id);
    assert_eq!(found, listed, "the same as in a list");
    assert_eq!(look(&[]).await, []);
}

async fn outputs(cx: Arc<Cx>) {
    let flow = cx.flow([single("m").map(), single("none").map(), single("z").after("m")]).await;
    let run = cx.start(&flow, json!([1, 2, 3])).await;
    let read =
        async |step: &str, first| cx.backend().outputs(run.id, step, first).await.expect("a page");
    let tasks = cx.claim(&flow).await;
    let of = |step: &'static str| tasks.iter().filter(move |task| task.lease.task.step == step);
    for (n, task) in of("m").enumerate() {
        assert_eq!(read("m", 0).await, [] as [serde_json::Value; 0], "the step goes on");
        run.done(task, if n == 1 { json!(null) } else { json!([n]) }).await;
    }
    assert_eq!(read("m", 0).await, [json!([0]), json!(null), json!([2])]);
    assert_eq!(read("m", 2).await, [json!([2])]);
    assert_eq!(read("m", 3).await, [] as [serde_json::Value; 0]);
    let begin = cx.backend().outputs_within(run.id, "m", 0, 1).await.expect("a page");
    assert_eq!(begin, [json!([0])], "as many as make up a byte, and one at least");
    let within = cx.backend().outputs_within(run.id, "m", 0, 100).await.expect("a page");
    assert_eq!(within.len(), 3, "all of them fit");
    assert_eq!(read("none", 0).await, [] as [serde_json::Value; 0]);
    assert_eq!(read("missing", 0).await, [] as [serde_json::Value; 0]);
    let [z] = run.take(["z#0"]).await;
    run.done(&z, json!(["an array", "of a single step"])).await;
    assert_eq!(read("z", 0).await, [json!(["an array", "of a single step"])]);
    assert_eq!(read("z", 1).await, [] as [serde_json::Value; 0]);
    assert_eq!(
        cx.backend().outputs(RunId::new(), "m", 0).await.expect("a page"),
        [] as [serde_json::Value; 0]
    );
}

async fn pruned(cx: Arc<Cx>) {
    let flow = cx.flow([single("m").map(), single("z").after("m")]).await;
    let mut runs = Vec::new();
    for _ in 0..5 {
        let run = NewRun::new(&*flow, json!([1, 2]), RunId::new());
        runs.push(run.id);
        cx.backend().start(run).await.expect("started");
    }
    // One goes on, with a task that is held; the others have ended with all sorts of tasks.
    let open = runs.remove(0);
    let tasks = cx.claim(&flow).await;
    let held: Vec<_> = tasks.iter().filter(|task| task.lease.task.run == open).collect();
    for run in &runs {
        cx.backend().cancel(*run, None).await.expect("cancelled");
    }
    let left = async |runs: &[RunId]| cx.backend().statuses(runs).await.expect("a look").len();
    let hours = Duration::from_hours(24 * 3650);
    assert_eq!(cx.backend().prune(hours, 100).await.expect("pruned"), 0, "nothing is that old");
    assert_eq!(left(&runs).await, 4);
    cx.advance(&flow, 1).await;
    assert_eq!(cx.backend().prune(Duration::ZERO, 3).await.expect("pruned"), 3, "at most so many");
    while cx.backend().prune(Duration::ZERO, 3).await.expect("pruned") == 3 {}
    assert_eq!(left(&runs).await, 0);
    for run in &runs {
        assert_eq!(cx.backend().events(*run, 0, 10).await.expect("events"), []);
        assert_eq!(cx.backend().run(*run, Parts::Outputs).await.expect("read"), None);
    }
    assert_eq!(cx.sweep().await, 0);
    for task in held {
        assert_eq!(cx.settle(&task.lease, completed(1)).await, Settled::Applied);
    }
    assert_eq!(left(&[open]).await, 1);
    cx.backend().cancel(open, None).await.expect("cancelled");
}
