//! Lists of runs.

use std::sync::Arc;

use pgflow_machine::{RunId, RunStatus};
use pgflow_runtime::backend::{Parts, RunQuery};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("K30", "runs are listed by flow and status, the newest first", filters),
    check!("K31", "pages of a list are disjoint and leave nothing out", pages),
    check!("K32", "a run is read with as much as is asked for", parts),
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
    assert_eq!((whole.id, &whole.flow, &whole.input), (run.id, &flow, &json!("in")));
    assert_eq!((whole.remaining_steps, whole.ended_at), (1, None));
    let steps = read(Parts::Steps).await;
    assert_eq!(steps.steps.len(), 2);
    assert!(steps.steps.iter().all(|step| step.output.is_none()), "no outputs");
    assert_eq!(steps.steps[1].status, whole.steps[1].status);
    let alone = read(Parts::Run).await;
    assert_eq!(
        (alone.status, alone.steps.len(), alone.input),
        (RunStatus::Started, 0, json!("in"))
    );
    assert_eq!((steps.steps[0].tasks, steps.steps[0].remaining_tasks), (Some(1), Some(0)));
    assert_eq!((steps.steps[1].tasks, steps.steps[1].remaining_tasks), (Some(1), Some(1)));
}
