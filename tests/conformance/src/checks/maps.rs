//! Maps.

use std::sync::Arc;

use pgflow_machine::{RunStatus, Settle, Settled};
use serde_json::{Value, json};

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, completed, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C05", "an empty map cascades to the end in one call", empty_maps),
    check!("C06", "a wide map keeps its outputs in the order of its elements", wide_map),
    check!("C07", "what is not an array fails the run that maps over it", not_an_array),
    check!("K03", "a map of a map gets one task per output", map_of_a_map),
];

async fn empty_maps(cx: Arc<Cx>) {
    let chain = || [single("b").map().after("a"), single("c").map().after("b")];
    let flow = cx.flow([single("a").map()].into_iter().chain(chain())).await;
    let run = cx.start(&flow, json!([])).await;
    run.expect_state(RunStatus::Completed, &["a:completed", "b:completed", "c:completed"]).await;
    run.expect_log(&[
        "run:started []",
        "step:completed a []",
        "step:completed b []",
        "step:completed c []",
        "run:completed {\"c\":[]}",
    ])
    .await;

    let flow =
        cx.flow([single("a")].into_iter().chain(chain()).chain([single("d").after("c")])).await;
    let run = cx.start(&flow, json!(1)).await;
    let [a] = run.take(["a#0"]).await;
    run.done(&a, json!([])).await;
    let [d] = run.take(["d#0"]).await;
    assert_eq!(d.input, json!({"run": 1, "c": []}), "a single step after an empty map runs");
    run.expect_log_end(&["step:completed b []", "step:completed c []", "step:started d 1"]).await;
    let record = run.record().await;
    assert_eq!((record.steps[1].tasks, record.steps[1].remaining_tasks), (Some(0), Some(0)));
}

async fn wide_map(cx: Arc<Cx>) {
    let n = cx.rounds(2_000, 10_000);
    let flow = cx.flow([single("each").map(), single("sum").after("each")]).await;
    let run = cx.start(&flow, (0..n).collect::<Vec<_>>()).await;
    let mut settled = 0;
    while settled < n {
        let mut tasks = cx.claim_as(&cx.wish(&flow, 500)).await;
        assert!(!tasks.is_empty(), "{settled} of {n} were claimed");
        assert!(tasks.iter().all(|task| task.input == json!(task.lease.task.index)));
        settled += tasks.len();
        tasks.reverse();
        let settle = |task: pgflow_runtime::backend::ClaimedTask| Settle {
            verdict: completed(json!(u64::from(task.lease.task.index) * 2)),
            lease: task.lease.into(),
        };
        let outcomes = cx.settle_all(tasks.into_iter().map(settle).collect()).await;
        assert!(outcomes.iter().all(|outcome| *outcome == Settled::Applied));
    }
    let doubled: Value = (0..n).map(|index| index * 2).collect();
    let [sum] = run.take(["sum#0"]).await;
    assert_eq!(sum.input["each"], doubled);
    run.done(&sum, "done").await;
    let record = run.expect_state(RunStatus::Completed, &["each:completed", "sum:completed"]).await;
    assert_eq!(record.steps[0].output, Some(doubled));
    assert_eq!(record.steps[0].tasks, u32::try_from(n).ok());
}

/// The run's end is told first and without an error; the step says what it was.
async fn not_an_array(cx: Arc<Cx>) {
    let flow = cx.flow([single("list"), single("each").map().after("list"), single("other")]).await;
    for (output, kind) in [
        (json!({"a": 1}), "object"),
        (json!("text"), "string"),
        (json!(null), "null"),
        (json!(1.5), "number"),
        (json!(false), "boolean"),
    ] {
        let run = cx.start(&flow, json!({})).await;
        let [list, other] = run.take(["list#0", "other#0"]).await;
        run.done(&list, output).await;
        let text = format!(
            "[TYPE_VIOLATION] Map step each expects array input but dependency list produced {kind}"
        );
        let steps = ["list:failed", "each:created", "other:started"];
        let record = run.expect_state(RunStatus::Failed, &steps).await;
        assert_eq!(record.steps[0].error.as_deref(), Some(&*text));
        run.expect_log_end(&["run:failed", &format!("step:failed list {text}")]).await;
        assert_eq!(cx.settle(&other.lease, completed(1)).await, Settled::RunEnded);
        assert_eq!(cx.settle(&list.lease, completed(json!([]))).await, Settled::RunEnded);
        run.expect_idle().await;
    }
}

async fn map_of_a_map(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").map(), single("b").map().after("a")]).await;
    let run = cx.start(&flow, json!(["x", "y"])).await;
    let [x, y] = run.take(["a#0", "a#1"]).await;
    run.done(&y, "Y").await;
    run.done(&x, json!(["not", "flattened"])).await;
    let [first, second] = run.take(["b#0", "b#1"]).await;
    assert_eq!((&first.input, &second.input), (&json!(["not", "flattened"]), &json!("Y")));
    run.done(&first, json!(null)).await;
    run.done(&second, json!({})).await;
    run.expect_log(&[
        "run:started [\"x\",\"y\"]",
        "step:started a 2",
        "step:completed a [[\"not\",\"flattened\"],\"Y\"]",
        "step:started b 2",
        "step:completed b [null,{}]",
        "run:completed {\"b\":[null,{}]}",
    ])
    .await;
}
