//! Steps that a run goes on without.

use std::sync::Arc;

use pgflow_machine::{RunStatus, Settled};
use pgflow_model::OnSkip;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, Run, StepExt, completed, fatal, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C09a", "an unmet condition skips, skips all that follows, or fails", unmet),
    check!("C09b", "used-up attempts skip, skip all that follows, or fail", exhausted),
    check!("C09c", "conditions look at the run's input and at outputs", conditions),
    check!("C09d", "a skipped dependency of a map makes it empty", skipped_before_a_map),
    check!("C09e", "a map that is skipped leaves its other tasks behind", skipped_map),
];

/// `a`, then `b` which is under test, then `c`.
async fn unmet(cx: Arc<Cx>) {
    for (mode, end) in [
        (OnSkip::Skip, &["step:skipped b condition_unmet", "step:started c 1"][..]),
        (
            OnSkip::SkipCascade,
            &[
                "step:skipped b condition_unmet",
                "step:skipped c dependency_skipped",
                "run:completed null",
            ],
        ),
        (OnSkip::Fail, &["step:failed b Condition not met", "run:failed Condition not met"]),
    ] {
        let b = single("b").after("a").only_if(json!({"a": {"go": true}})).unmet(mode);
        let flow = cx.flow([single("a"), b, single("c").after("b")]).await;
        let run = cx.start(&flow, json!({})).await;
        let [a] = run.take(["a#0"]).await;
        run.done(&a, json!({"go": false})).await;
        run.expect_log_end(end).await;
        after_skip(&run, mode).await;
    }
}

async fn exhausted(cx: Arc<Cx>) {
    for (mode, end) in [
        (OnSkip::Skip, &["step:skipped b handler_failed boom", "step:started c 1"][..]),
        (
            OnSkip::SkipCascade,
            &[
                "step:skipped b handler_failed boom",
                "step:skipped c dependency_skipped",
                "run:completed null",
            ],
        ),
        (OnSkip::Fail, &["step:failed b boom", "run:failed boom"]),
    ] {
        let b = single("b").after("a").attempts(2).exhausted(mode);
        let flow = cx.flow([single("a"), b, single("c").after("b")]).await;
        let run = cx.start(&flow, json!({})).await;
        let [a] = run.take(["a#0"]).await;
        run.done(&a, json!(1)).await;
        let [b] = run.take(["b#0"]).await;
        run.fail(&b, "first").await;
        let [b] = run.take(["b#0"]).await;
        run.fail(&b, "boom").await;
        run.expect_log_end(end).await;
        let error = run.record().await.steps[1].error.clone();
        assert_eq!(error.as_deref(), Some("boom"));
        let expected =
            if mode == OnSkip::Fail { Settled::RunEnded } else { Settled::AlreadySettled };
        assert_eq!(cx.settle(&b.lease, fatal("boom")).await, expected);
        after_skip(&run, mode).await;
    }
}

async fn after_skip(run: &Run, mode: OnSkip) {
    match mode {
        OnSkip::Fail => {
            let steps = ["a:completed", "b:failed", "c:created"];
            let record = run.expect_state(RunStatus::Failed, &steps).await;
            assert_eq!(record.remaining_steps, 2);
        }
        OnSkip::SkipCascade => {
            let steps = ["a:completed", "b:skipped", "c:skipped"];
            let record = run.expect_state(RunStatus::Completed, &steps).await;
            assert_eq!((record.remaining_steps, record.output), (0, None));
        }
        OnSkip::Skip => {
            let [c] = run.take(["c#0"]).await;
            assert_eq!(c.input, json!({"run": {}}), "a skipped dependency is absent");
            run.done(&c, "end").await;
            let steps = ["a:completed", "b:skipped", "c:completed"];
            let record = run.expect_state(RunStatus::Completed, &steps).await;
            assert_eq!(record.output, Some(json!({"c": "end"})));
            assert_eq!(record.steps[1].remaining_tasks, None);
        }
    }
    run.expect_idle().await;
}

async fn conditions(cx: Arc<Cx>) {
    let flow = cx
        .flow([
            single("rich").only_if(json!({"plan": {"name": "pro"}})),
            single("poor").unless(json!({"plan": {"name": "pro"}})),
            single("many").after("rich").only_if(json!({"rich": [{"ok": true}, 2]})),
            single("none").after("rich").unless(json!({"rich": []})).only_if(json!({})),
        ])
        .await;
    let run = cx.start(&flow, json!({"plan": {"name": "pro", "seats": 3}})).await;
    run.expect_log_end(&["step:skipped poor condition_unmet", "step:started rich 1"]).await;
    let [rich] = run.take(["rich#0"]).await;
    run.done(&rich, json!([2, 3, {"ok": true, "more": 1}])).await;
    run.expect_log_end(&["step:skipped none condition_unmet", "step:started many 1"]).await;
    let run = cx.start(&flow, json!({"plan": {"name": "free"}})).await;
    // `rich` is skipped, so that its dependents' conditions are about nothing.
    let steps = ["poor:started", "rich:skipped", "many:skipped", "none:started"];
    run.expect_state(RunStatus::Started, &steps).await;
}

async fn skipped_before_a_map(cx: Arc<Cx>) {
    let list = single("list").only_if(json!({"go": 1}));
    let flow =
        cx.flow([list, single("each").map().after("list"), single("end").after("each")]).await;
    let run = cx.start(&flow, json!({"go": 0})).await;
    run.expect_log(&[
        "run:started {\"go\":0}",
        "step:skipped list condition_unmet",
        "step:completed each []",
        "step:started end 1",
    ])
    .await;
    let [end] = run.take(["end#0"]).await;
    assert_eq!(end.input, json!({"run": {"go": 0}, "each": []}));
}

async fn skipped_map(cx: Arc<Cx>) {
    let each = single("each").map().attempts(1).exhausted(OnSkip::Skip);
    let flow = cx.flow([each, single("end").after("each")]).await;
    let run = cx.start(&flow, json!([1, 2, 3])).await;
    let mut tasks = cx.claim_as(&cx.wish(&flow, 2)).await;
    assert_eq!(tasks.len(), 2);
    let (busy, bad) = (tasks.pop().expect("two"), tasks.pop().expect("two"));
    run.fail(&bad, "boom").await;
    run.expect_log_end(&["step:skipped each handler_failed boom", "step:started end 1"]).await;
    assert_eq!(cx.settle(&busy.lease, completed(1)).await, Settled::AlreadySettled);
    assert_eq!(cx.beat(&[&busy.lease]).await, [pgflow_machine::Beat::Lost]);
    let [end] = run.take(["end#0"]).await;
    assert_eq!(end.input, json!({"run": [1, 2, 3]}));
    run.done(&end, 1).await;
    run.expect_state(RunStatus::Completed, &["each:skipped", "end:completed"]).await;
    run.expect_idle().await;
}
