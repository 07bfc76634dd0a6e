//! Tasks that a worker holds and does not know of, because the answer to its claim got lost.

use std::sync::Arc;

use pgflow_machine::{RunStatus, Settled, Source, WorkerId};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, StepExt, completed, names, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("K43", "tasks of a claim whose answer got lost are given back at once", lost_answer),
    check!("K44", "given back, a task has used up nothing, however often", nothing_used_up),
    check!("K45", "what is known, another's, elsewhere or over stays as it is", left_alone),
];

async fn lost_answer(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").map()]).await;
    let run = cx.start(&flow, json!([1, 2, 3])).await;
    let held = cx.claim_as(&cx.wish(&flow, 1)).await;
    let lost = cx.claim(&flow).await;
    assert_eq!((held.len(), lost.len()), (1, 2));
    assert_eq!(cx.release_unknown(&flow, &[&held[0].lease]).await, 2);
    assert_eq!(cx.release_unknown(&flow, &[&held[0].lease]).await, 0, "once");
    let again = cx.claim(&flow).await;
    assert_eq!(names(&again), names(&lost));
    assert!(again.iter().all(|task| task.lease.attempt == 2), "numbers are never used twice");
    assert_eq!(cx.settle(&lost[0].lease, completed(0)).await, Settled::Fenced);
    for task in held.iter().chain(&again) {
        run.done(task, task.input.clone()).await;
    }
    run.expect_log(&[
        "run:started [1,2,3]",
        "step:started a 3",
        "step:completed a [1,2,3]",
        "run:completed {\"a\":[1,2,3]}",
    ])
    .await;
}

async fn nothing_used_up(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").attempts(2)]).await;
    let run = cx.start(&flow, json!({})).await;
    for _ in 0..6 {
        run.take(["a#0"]).await;
        assert_eq!(cx.release_unknown(&flow, &[]).await, 1);
    }
    assert_eq!(cx.sweep().await, 0, "nobody lost anything");
    let [seventh] = run.take(["a#0"]).await;
    assert_eq!(seventh.lease.attempt, 7);
    run.fail(&seventh, "first").await;
    let [eighth] = run.take(["a#0"]).await;
    run.fail(&eighth, "second").await;
    run.expect_log_end(&["step:failed a second", "run:failed second"]).await;
}

async fn left_alone(cx: Arc<Cx>) {
    let (flow, elsewhere) = (cx.flow([single("a")]).await, cx.flow([single("a")]).await);
    let (run, ended) = (cx.start(&flow, json!({})).await, cx.start(&flow, json!({})).await);
    let far = cx.start(&elsewhere, json!({})).await;
    let others = cx.claim(&flow).await;
    let [of_run, of_ended] = run.split(&others, &ended);
    ended.cancel(None).await;
    let [in_far] = far.take(["a#0"]).await;
    let backend = cx.backend();
    let by_another = backend.release_unknown(WorkerId::new(), &[Source::queue(&flow)], &[]).await;
    assert_eq!(by_another.expect("an answer"), 0, "what it holds is its own");
    assert_eq!(cx.release_unknown(&flow, &[&of_run.lease]).await, 0);
    run.done(&of_run, 1).await;
    assert_eq!(cx.settle(&of_ended.lease, completed(1)).await, Settled::RunEnded);
    far.done(&in_far, 1).await;
    let again = cx.start(&flow, json!({})).await;
    let [first] = again.take(["a#0"]).await;
    run.cx.settle(&first.lease, crate::kit::RELEASED).await;
    let [second] = again.take(["a#0"]).await;
    assert_eq!(cx.release_unknown(&flow, &[&first.lease]).await, 1, "known as another attempt");
    assert_eq!(cx.settle(&second.lease, completed(1)).await, Settled::Fenced);
    for (run, status) in [(&run, RunStatus::Completed), (&far, RunStatus::Completed)] {
        run.expect_state(status, &["a:completed"]).await;
    }
}
