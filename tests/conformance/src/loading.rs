//! What a store loads.

use std::collections::BTreeMap;

use pgflow_machine::{
    FlowVersion, Needs, Rows, RunId, Settle, TaskKey, TaskRef, TaskStatus, WorkerId,
};
use pgflow_model::FlowShape;
use pgflow_runtime::backend::{Backend, Claim, NewRun};
use pgflow_runtime::store::{Access, Session, Store};
use serde_json::{Value, json};

use crate::kit::{completed, single};

/// Every kind of row that a command may ask for is loaded: what is left out is a rule that nobody keeps.
///
/// # Panics
///
/// If something is not.
pub async fn loads_what_is_asked_for<S: Store + Backend>(store: &S) {
    let steps = vec![single("m").map(), single("z").after("m")];
    let slug = "loading".to_owned();
    let shape = FlowShape { steps, ..FlowShape::new(&slug) };
    let version = FlowVersion { flow: slug.clone(), version: 1, slug, shape };
    store.ensure_flow(&version).await.expect("a flow");
    let run = RunId::new();
    store.start(NewRun::new("loading", json!([1, 2, 3]), run)).await.expect("a run");
    let claim = Claim::of_queues(["loading"], 3, WorkerId::new());
    let tasks = store.claim(&claim).await.expect("tasks").tasks;
    let settle = |at: usize| Settle {
        lease: tasks[at].lease.clone().into(),
        verdict: completed(Value::from("four")),
    };
    store.settle(&[settle(0), settle(1)], None).await.expect("results");

    let mut session = Store::begin(store, Access::Read).await.expect("a look");
    let mut rows = Rows::default();
    let key = |index| TaskKey { run, step: "m".into(), index };
    let needs = Needs { tasks: [key(1)].into(), ..Needs::of_runs([run]) };
    session.load(&needs, &mut rows).await.expect("rows");
    let task = |index| TaskRef { run, step: 0, index };
    assert_eq!(rows.runs.keys().collect::<Vec<_>>(), [&run]);
    assert_eq!(rows.tasks.keys().collect::<Vec<_>>(), [&task(1)]);
    let (attempted, map_outputs, weights) = (vec![run], vec![(run, 0)], vec![(run, 0), (run, 1)]);
    let more = Needs { attempted, map_outputs, weights, ..Needs::default() };
    session.load(&more, &mut rows).await.expect("more rows");
    assert_eq!(rows.tasks[&task(2)].status, TaskStatus::Started);
    let outputs: BTreeMap<u32, Value> = [(0, json!("four")), (1, json!("four"))].into();
    assert_eq!(rows.map_outputs[&(run, 0)], outputs);
    // Their quotes, too; a database may count a little more.
    assert!((12..=16).contains(&rows.weights[&(run, 0)]), "{:?}", rows.weights);
    assert_eq!(rows.weights.get(&(run, 1)).copied().unwrap_or_default(), 0, "it has not begun");
}
