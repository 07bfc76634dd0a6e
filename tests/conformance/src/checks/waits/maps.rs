//! Maps whose tasks wait, one by one.

use std::sync::Arc;

use pgflow_machine::wait::Signalled;
use pgflow_machine::{RunStatus, Settle};
use serde_json::{Value, json};

use crate::Check;
use crate::check::check;
use crate::kit::waits::{hook, run_of, sleep, to_token, waits};
use crate::kit::{Cx, StepExt, fatal, names, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("W60", "each task of a map waits for itself", each, Waits),
    check!("W61", "waits of one batch begin before any of them ends", batch, Waits),
    check!("W62", "a task that fails the map ends the waits of the others", exhausted, Waits),
];

async fn each(cx: Arc<Cx>) {
    let flow = cx.flow([single("each").map(), single("b").after("each")]).await;
    let run = cx.start(&flow, json!([0, 1, 2])).await;
    let tasks = run.take(["each#0", "each#1", "each#2"]).await;
    let tokens = [cx.token(), cx.token(), cx.token()];
    for (task, token) in tasks.iter().zip(&tokens) {
        run.apply(task, waits(hook(token))).await;
    }
    assert_eq!(cx.waits(run.id).await.len(), 3);
    for at in [2, 0, 1] {
        assert_eq!(names(&cx.claim(&flow).await), [""; 0]);
        let signalled = cx.signal(&to_token(&tokens[at], at)).await;
        assert_eq!(signalled, Signalled::Delivered(tasks[at].lease.task.clone()));
    }
    let [next] = run.take(["b#0"]).await;
    assert_eq!(next.input["each"], json!([0, 1, 2]));
}

async fn batch(cx: Arc<Cx>) {
    let flow = cx.flow([single("each").map()]).await;
    let run = cx.start(&flow, json!([0, 1, 2])).await;
    let tasks = run.take(["each#0", "each#1", "each#2"]).await;
    let token = cx.token();
    cx.signal(&to_token(&token, "early")).await;
    let verdicts =
        [waits(sleep(std::time::Duration::ZERO)), waits(hook(&token)), waits(hook(&cx.token()))];
    let settle = |(task, verdict): (&pgflow_runtime::backend::ClaimedTask, _)| Settle {
        lease: task.lease.clone().into(),
        verdict,
    };
    let settles: Vec<_> = tasks.iter().zip(verdicts).map(settle).rev().collect();
    cx.settle_all(settles).await;
    run.expect_log(&[
        "run:started [0,1,2]",
        "step:started each 3",
        "step:waiting each 0 sleep",
        "step:waiting each 1 hook",
        "step:waiting each 2 hook",
        "step:woken each 0",
        "step:signalled each 1",
    ])
    .await;
    let last = crate::kit::waits::to_task(&tasks[2].lease.task, Value::Null);
    assert_eq!(cx.signal(&last).await, Signalled::Delivered(tasks[2].lease.task.clone()));
    assert_eq!(run.record().await.output, Some(json!({ "each": [null, "early", null] })));
}

async fn exhausted(cx: Arc<Cx>) {
    let inner = cx.flow([single("x")]).await;
    let each = single("each").map().exhausted(pgflow_model::OnSkip::Skip);
    let flow = cx.flow([each, single("b")]).await;
    let run = cx.start(&flow, json!([0, 1, 2])).await;
    let [b, first, second, third] = run.take(["b#0", "each#0", "each#1", "each#2"]).await;
    let token = cx.announce(&first).await.expect("it holds");
    run.apply(&first, waits(hook(&token))).await;
    run.apply(&second, waits(run_of(&inner, 1))).await;
    run.apply(&third, fatal("boom")).await;
    run.expect_state(RunStatus::Started, &["b:started", "each:skipped"]).await;
    assert_eq!(cx.waits(run.id).await, []);
    assert_eq!(cx.signal(&to_token(&token, 1)).await, Signalled::Gone);
    assert_eq!(names(&cx.claim(&inner).await), [""; 0], "the child is cancelled");
    run.done(&b, 1).await;
    run.expect_state(RunStatus::Completed, &["b:completed", "each:skipped"]).await;
}
