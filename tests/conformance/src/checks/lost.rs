//! Tasks of workers that are gone.

use std::sync::Arc;

use pgflow_machine::RunStatus;
use pgflow_model::OnSkip;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, Run, StepExt, names, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C15", "a lost task is queued again, as a new attempt", lost_task),
    check!("C23", "a task whose workers all die ends its step", lost_for_good),
    check!("C27", "any process recovers what another one lost", any_process_recovers),
    check!("K46", "a claim that sweeps first gets what was lost, too", swept_and_claimed),
    check!("K09", "a lost attempt counts towards max_attempts", losses_count),
    check!("K67", "what was lost hides nothing that is behind it", behind_the_lost),
];

async fn lost_task(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [first] = run.take(["a#0"]).await;
    run.advance(90).await;
    assert_eq!(cx.sweep().await, 0, "it may take 100 s");
    assert_eq!(names(&cx.claim(&flow).await), [""; 0]);
    run.advance(20).await;
    assert_eq!(cx.sweep().await, 1);
    assert_eq!(cx.sweep().await, 0, "once");
    let [second] = run.take(["a#0"]).await;
    assert_eq!((first.lease.attempt, second.lease.attempt), (1, 2));
    assert_eq!(second.input, first.input);
    run.done(&second, 2).await;
    run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    run.expect_log_end(&["step:started a 1", "step:completed a 2", "run:completed {\"a\":2}"])
        .await;
}

async fn behind_the_lost(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b"), single("late").start_delay(500)]).await;
    let run = cx.start(&flow, json!({})).await;
    run.take(["a#0", "b#0"]).await;
    run.advance(1_000).await;
    assert_eq!(names(&cx.claim_as(&cx.wish(&flow, 1)).await), ["late#0"], "before any sweep");
    assert_eq!(names(&cx.claim_as(&cx.wish(&flow, 1)).await), [""; 0]);
    assert_eq!(cx.sweep().await, 2);
}

/// Loses the flow's only task as often as that can be done.
async fn lose_three_times(run: &Run) {
    for attempt in 1..=4 {
        let [task] = run.take(["a#0"]).await;
        assert_eq!(task.lease.attempt, attempt);
        run.advance(200).await;
        assert_eq!(run.cx.sweep().await, u64::from(attempt < 4), "sweep {attempt}");
    }
}

async fn lost_for_good(cx: Arc<Cx>) {
    const ERROR: &str = "stalled: task 0 was lost by its worker 4 times";
    for (mode, steps, status) in [
        (OnSkip::Fail, ["a:failed", "b:created"], RunStatus::Failed),
        (OnSkip::Skip, ["a:skipped", "b:started"], RunStatus::Started),
        (OnSkip::SkipCascade, ["a:skipped", "b:skipped"], RunStatus::Completed),
    ] {
        let a = single("a").attempts(1).exhausted(mode);
        let flow = cx.flow([a, single("b").after("a").start_delay(1_000_000_000)]).await;
        let run = cx.start(&flow, json!({})).await;
        lose_three_times(&run).await;
        let record = run.expect_state(status, &steps).await;
        assert_eq!(record.steps[0].error.as_deref(), Some(ERROR));
        let mut log = vec!["run:started {}".to_owned(), "step:started a 1".into()];
        log.extend(match mode {
            OnSkip::Fail => {
                [format!("step:failed a {ERROR}"), format!("run:failed {ERROR}")].to_vec()
            }
            OnSkip::Skip => {
                [format!("step:skipped a handler_failed {ERROR}"), "step:started b 1".into()]
                    .to_vec()
            }
            OnSkip::SkipCascade => [
                format!("step:skipped a handler_failed {ERROR}"),
                "step:skipped b dependency_skipped".into(),
                "run:completed null".into(),
            ]
            .to_vec(),
        });
        assert_eq!(run.log().await.lines(), log);
        run.expect_idle().await;
    }
}

async fn any_process_recovers(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").map()]).await;
    let run = cx.start(&flow, json!([1, 2])).await;
    run.take(["a#0", "a#1"]).await;
    run.advance(200).await;
    let other = cx.another().await;
    assert_eq!(other.sweep().await.expect("lost tasks can be swept").requeued, 2);
    let tasks = other.claim(&cx.wish(&flow, 10)).await.expect("work can be claimed").tasks;
    assert_eq!(tasks.len(), 2);
    assert!(tasks.iter().all(|task| task.lease.attempt == 2));
    run.expect_state(RunStatus::Started, &["a:started"]).await;
}

async fn swept_and_claimed(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").map()]).await;
    let run = cx.start(&flow, json!([1, 2, 3])).await;
    let (first, wish) = (cx.claim_as(&cx.wish(&flow, 2)).await, cx.wish(&flow, 10));
    let (swept, claimed) = cx.backend().sweep_and_claim(&wish).await.expect("work can be claimed");
    assert_eq!((swept.requeued, claimed.tasks.len()), (0, 1), "nothing was lost yet");
    run.advance(200).await;
    let (swept, claimed) = cx.backend().sweep_and_claim(&wish).await.expect("work can be claimed");
    assert_eq!((swept.requeued, claimed.tasks.len()), (3, 3), "all of {first:?} and one more");
    assert!(claimed.tasks.iter().all(|task| task.lease.attempt == 2));
    let none = cx.wish(&flow, 0);
    run.advance(200).await;
    let (swept, claimed) = cx.backend().sweep_and_claim(&none).await.expect("it can be swept");
    assert_eq!((swept.requeued, claimed.tasks.len()), (3, 0), "also without room");
    run.expect_state(RunStatus::Started, &["a:started"]).await;
}

/// A lost attempt is counted like one that failed: with two attempts, one loss leaves one.
async fn losses_count(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").attempts(2)]).await;
    let run = cx.start(&flow, json!({})).await;
    run.take(["a#0"]).await;
    run.advance(200).await;
    assert_eq!(cx.sweep().await, 1);
    let [second] = run.take(["a#0"]).await;
    run.fail(&second, "boom").await;
    run.expect_state(RunStatus::Failed, &["a:failed"]).await;
    run.expect_log_end(&["step:failed a boom", "run:failed boom"]).await;
}
