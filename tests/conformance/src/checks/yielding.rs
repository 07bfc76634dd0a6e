//! Tasks that no worker can do now.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{RunStatus, Settled, Source};
use pgflow_runtime::backend::{Parts, TaskQuery};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, Run, StepExt, later, names, single, yielded};

pub(crate) const CHECKS: &[Check] = &[
    check!("K40", "a yielded task waits, and burns no attempt", waits),
    check!("K41", "a worker that starts gets what was yielded at once, and nothing else", resume),
    check!("K42", "a yield of an old attempt, or in a run that has ended, changes nothing", fenced),
];

const MINUTES: Duration = Duration::from_mins(5);

async fn waits(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").attempts(1)]).await;
    let run = cx.start(&flow, json!({})).await;
    for attempt in 1..=3 {
        let [task] = run.take(["a#0"]).await;
        assert_eq!(task.lease.attempt, attempt, "numbers are never used twice");
        assert_eq!(told(&run).await, [None, None], "it is being worked on");
        run.apply(&task, yielded("cannot read it", MINUTES)).await;
        assert_eq!(told(&run).await, [None, Some("cannot read it".to_owned())]);
        run.advance(290).await;
        assert_eq!(names(&cx.claim(&flow).await), [""; 0], "it waits for its delay");
        run.expect_state(RunStatus::Started, &["a:started"]).await;
        run.advance(20).await;
    }
    let [task] = run.take(["a#0"]).await;
    run.done(&task, "read").await;
    run.expect_log(&[
        "run:started {}",
        "step:started a 1",
        "step:completed a \"read\"",
        "run:completed {\"a\":\"read\"}",
    ])
    .await;
}

/// What the one task of a run's one step failed with, and what it waits for; the step says the same.
async fn told(run: &Run) -> [Option<String>; 2] {
    let backend = run.cx.backend();
    let tasks = backend.tasks(run.id, "a", &TaskQuery::default()).await.expect("its tasks");
    let record = backend.run(run.id, Parts::Steps).await.expect("readable").expect("it is there");
    let work = record.steps[0].work.clone().expect("it is started");
    let told = [tasks[0].error.clone(), tasks[0].yielded.clone()];
    assert_eq!([work.last_error, work.yielded], told);
    told
}

async fn resume(cx: Arc<Cx>) {
    let flow = cx.flow([single("each").map(), single("other").attempts(3)]).await;
    let run = cx.start(&flow, json!([0, 1])).await;
    let [first, second, other] = run.take(["each#0", "each#1", "other#0"]).await;
    run.apply(&first, yielded("cannot read it", MINUTES)).await;
    run.apply(&second, yielded("cannot read it", MINUTES)).await;
    // Words alone hold nothing back.
    run.apply(&other, later("held back: cannot read it", MINUTES)).await;
    let resume = async |queue: &str| {
        cx.backend().resume(&[Source::queue(queue)]).await.expect("it can be asked for")
    };
    assert_eq!(resume("another_flow").await, 0);
    assert_eq!(resume(&flow).await, 2);
    let [first, second] = run.take(["each#0", "each#1"]).await;
    assert_eq!((first.lease.attempt, second.lease.attempt), (2, 2));
    assert_eq!(resume(&flow).await, 0, "it is claimed");
    run.done(&first, 0).await;
    run.done(&second, 1).await;
    run.advance(310).await;
    let [other] = run.take(["other#0"]).await;
    run.done(&other, 2).await;
    run.expect_state(RunStatus::Completed, &["each:completed", "other:completed"]).await;
}

async fn fenced(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a, b] = run.take(["a#0", "b#0"]).await;
    run.apply(&a, yielded("not now", Duration::ZERO)).await;
    let again = cx.settle(&a.lease, yielded("not now", Duration::ZERO)).await;
    assert_eq!(again, Settled::Fenced);
    run.fail_for_good(&b, "boom").await;
    let ended = cx.settle(&b.lease, yielded("not now", Duration::ZERO)).await;
    assert_eq!(ended, Settled::RunEnded);
    assert_eq!(cx.backend().resume(&[Source::queue(&flow)]).await.expect("an answer"), 0);
    run.expect_idle().await;
}
