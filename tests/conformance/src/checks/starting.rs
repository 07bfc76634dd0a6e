//! Starting runs.

use std::sync::Arc;

use futures_util::future::join_all;
use pgflow_machine::{RunId, RunStatus};
use pgflow_runtime::backend::{BackendError, NewRun, Parts, RunQuery, Started};
use serde_json::{Value, json};

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C01", "a start makes the first steps ready with it", first_steps_are_ready),
    check!("C02", "one id started 100 times at once is one run", one_id_is_one_run),
    check!("C03", "an unknown flow is an error and leaves nothing", unknown_flow),
    check!("K01", "an id that exists keeps its input; of another flow it is an error", existing_id),
    check!("K02", "a flow that maps over its input takes arrays only", root_map_needs_an_array),
];

async fn first_steps_are_ready(cx: Arc<Cx>) {
    let flow = cx.flow([single("b"), single("a"), single("join").after("a").after("b")]).await;
    let run = cx.start(&flow, json!({"n": 1})).await;
    run.expect_state(RunStatus::Started, &["a:started", "b:started", "join:created"]).await;
    run.expect_log(&["run:started {\"n\":1}", "step:started a 1", "step:started b 1"]).await;
    let [a, b] = run.take(["a#0", "b#0"]).await;
    assert_eq!((a.input, a.lease.attempt), (json!({"run": {"n": 1}}), 1));
    assert_eq!((b.input, b.flow), (json!({"run": {"n": 1}}), flow));
}

/// From two connections, as two processes would.
async fn one_id_is_one_run(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let handles = [cx.backend(), cx.another().await];
    let id = RunId::new();
    let start = |n: usize| {
        let run = NewRun::new(flow.clone(), json!(n), id);
        let backend = Arc::clone(&handles[n % 2]);
        tokio::spawn(async move { backend.start(run).await })
    };
    let outcomes = join_all((0..100).map(start)).await;
    let created = outcomes
        .into_iter()
        .map(|outcome| outcome.expect("no panic").expect("a start of an existing id is fine"))
        .filter(|started| *started == Started::Created)
        .count();
    assert_eq!(created, 1, "runs created");
    cx.remember(id);
    assert_eq!(cx.claim(&flow).await.len(), 1, "the run was started once");
    assert_eq!(listed(&cx, &flow).await, [id]);
}

async fn listed(cx: &Cx, flow: &str) -> Vec<RunId> {
    let query = RunQuery { flows: vec![flow.into()], ..RunQuery::default() };
    let runs = cx.backend().list(&query).await.expect("runs can be listed");
    runs.iter().map(|run| run.id).collect()
}

async fn unknown_flow(cx: Arc<Cx>) {
    let (flow, id) = (cx.name(), RunId::new());
    let start = NewRun::new(flow.clone(), Value::Null, id);
    let error = cx.backend().start(start).await.expect_err("no flow, no run");
    let named = matches!(&error, BackendError::UnknownFlow { flow: named } if *named == flow);
    assert!(named, "UnknownFlow is expected, not {error:?}");
    assert_eq!(cx.backend().run(id, Parts::Run).await.expect("can be asked"), None);
    assert_eq!(cx.backend().events(id, 0, 10).await.expect("can be asked"), []);
    assert_eq!(listed(&cx, &flow).await, []);
}

async fn existing_id(cx: Arc<Cx>) {
    let (flow, other) = (cx.flow([single("a")]).await, cx.flow([single("a")]).await);
    let run = cx.start(&flow, "first").await;
    let again = |flow: &str| NewRun::new(flow, "second", run.id);
    assert_eq!(cx.backend().start(again(&flow)).await.expect("fine"), Started::Existing);
    assert_eq!(run.record().await.input, Some(json!("first")));
    let error = cx.backend().start(again(&other)).await.expect_err("a run has one flow");
    let said = matches!(&error, BackendError::OtherFlow { run: id, flow: of } if *id == run.id && *of == flow);
    assert!(said, "OtherFlow of {flow} is expected, not {error:?}");
    assert_eq!(cx.claim(&other).await, []);
    run.expect_log(&["run:started \"first\"", "step:started a 1"]).await;
}

async fn root_map_needs_an_array(cx: Arc<Cx>) {
    let flow = cx.flow([single("each").map()]).await;
    for input in [json!({"a": 1}), json!("text"), json!(null), json!(1), json!(true)] {
        let id = RunId::new();
        let run = NewRun::new(flow.clone(), input.clone(), id);
        let error = cx.backend().start(run).await.expect_err("not an array");
        let said = matches!(&error, BackendError::NotAnArray { flow: named, .. } if *named == flow);
        assert!(said, "NotAnArray is expected for {input}, not {error:?}");
        assert_eq!(cx.backend().run(id, Parts::Run).await.expect("can be asked"), None);
    }
    let run = cx.start(&flow, json!([null, 7])).await;
    let [first, second] = run.take(["each#0", "each#1"]).await;
    assert_eq!((first.input, second.input), (json!(null), json!(7)));
}
