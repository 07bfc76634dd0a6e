//! Failed runs that go on.

use std::sync::Arc;

use pgflow_machine::{Beat, RunId, RunStatus, Settled};
use pgflow_runtime::backend::Retried;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, Run, StepExt, completed, names, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("K20", "a retried run goes on from what failed, with new attempts", exhausted),
    check!("K21", "a retry keeps completed tasks and queues the others again", part_of_a_map),
    check!("K22", "a run that broke on its types can be retried", type_violation),
    check!("K23", "a run whose workers all died can be retried", stalled),
    check!("K24", "only a failed run can be retried", not_failed),
    check!("K25", "a run that failed on a condition can be retried, and meets it again", condition),
    check!("K26", "steps that waited go on after a retry", waiting_steps),
];

async fn exhausted(cx: Arc<Cx>) {
    let flow =
        cx.flow([single("a"), single("b").after("a").attempts(2), single("c").after("b")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a] = run.take(["a#0"]).await;
    run.done(&a, "A").await;
    fail_twice(&run, "boom", 1).await;
    assert_eq!(run.retry().await, Retried::Retried);
    let record =
        run.expect_state(RunStatus::Started, &["a:completed", "b:started", "c:created"]).await;
    assert_eq!((record.ended_at, record.remaining_steps, &record.steps[1].error), (None, 2, &None));
    fail_twice(&run, "bang", 3).await;
    assert_eq!(run.retry().await, Retried::Retried);
    let [b] = run.take(["b#0"]).await;
    assert_eq!((b.lease.attempt, &b.input), (5, &json!({"run": {}, "a": "A"})));
    run.done(&b, "B").await;
    let [c] = run.take(["c#0"]).await;
    run.done(&c, "C").await;
    run.expect_log(&[
        "run:started {}",
        "step:started a 1",
        "step:completed a \"A\"",
        "step:started b 1",
        "step:failed b boom",
        "run:failed boom",
        "run:retried",
        "step:started b 1",
        "step:failed b bang",
        "run:failed bang",
        "run:retried",
        "step:started b 1",
        "step:completed b \"B\"",
        "step:started c 1",
        "step:completed c \"C\"",
        "run:completed {\"c\":\"C\"}",
    ])
    .await;
}

async fn fail_twice(run: &Run, error: &str, first: u32) {
    for attempt in [first, first + 1] {
        let [b] = run.take(["b#0"]).await;
        assert_eq!(b.lease.attempt, attempt);
        run.fail(&b, error).await;
    }
    run.expect_state(RunStatus::Failed, &["a:completed", "b:failed", "c:created"]).await;
}

async fn part_of_a_map(cx: Arc<Cx>) {
    let flow = cx.flow([single("each").map(), single("other")]).await;
    let run = cx.start(&flow, json!([0, 1, 2])).await;
    let [done, busy, bad, other] = run.take(["each#0", "each#1", "each#2", "other#0"]).await;
    run.done(&done, "zero").await;
    run.fail_for_good(&bad, "boom").await;
    assert_eq!(run.retry().await, Retried::Retried);
    let record = run.expect_state(RunStatus::Started, &["each:started", "other:started"]).await;
    assert_eq!(record.steps[0].remaining_tasks, Some(2));
    assert_eq!(cx.beat(&[&busy.lease, &other.lease]).await, [Beat::Lost, Beat::Lost]);
    assert_eq!(cx.settle(&busy.lease, completed("old")).await, Settled::Fenced);
    let [one, two, other] = run.take(["each#1", "each#2", "other#0"]).await;
    assert_eq!([&one, &two, &other].map(|task| task.lease.attempt), [2, 2, 2]);
    assert_eq!((&one.input, &two.input), (&json!(1), &json!(2)));
    run.done(&two, "two").await;
    run.done(&one, "one").await;
    run.done(&other, "other").await;
    run.expect_log_end(&[
        "step:failed each boom",
        "run:failed boom",
        "run:retried",
        "step:started each 2",
        "step:completed each [\"zero\",\"one\",\"two\"]",
        "step:completed other \"other\"",
        "run:completed {\"each\":[\"zero\",\"one\",\"two\"],\"other\":\"other\"}",
    ])
    .await;
}

async fn type_violation(cx: Arc<Cx>) {
    let flow = cx.flow([single("list"), single("each").map().after("list")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [list] = run.take(["list#0"]).await;
    run.done(&list, "no list").await;
    assert_eq!(run.retry().await, Retried::Retried);
    run.expect_state(RunStatus::Started, &["list:started", "each:created"]).await;
    let [list] = run.take(["list#0"]).await;
    assert_eq!(list.lease.attempt, 2);
    run.done(&list, json!([7])).await;
    let [each] = run.take(["each#0"]).await;
    assert_eq!(each.input, json!(7));
    run.done(&each, json!(8)).await;
    run.expect_log_end(&[
        "run:retried",
        "step:started list 1",
        "step:completed list [7]",
        "step:started each 1",
        "step:completed each [8]",
        "run:completed {\"each\":[8]}",
    ])
    .await;
}

async fn stalled(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    for life in 1..=2 {
        for sweep in 1..=4 {
            run.take(["a#0"]).await;
            run.advance(200).await;
            assert_eq!(cx.sweep().await, u64::from(sweep < 4), "life {life}, sweep {sweep}");
        }
        run.expect_state(RunStatus::Failed, &["a:failed"]).await;
        assert_eq!(run.retry().await, Retried::Retried);
    }
    let [a] = run.take(["a#0"]).await;
    assert_eq!(a.lease.attempt, 9);
    run.done(&a, 1).await;
    run.expect_log_end(&[
        "run:retried",
        "step:started a 1",
        "step:completed a 1",
        "run:completed {\"a\":1}",
    ])
    .await;
}

async fn not_failed(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    assert_eq!(run.retry().await, Retried::NotFailed(RunStatus::Started));
    run.cancel(None).await;
    assert_eq!(run.retry().await, Retried::NotFailed(RunStatus::Cancelled));
    let unknown = cx.backend().retry(RunId::new()).await.expect("can be asked");
    assert_eq!(unknown, Retried::Unknown);
    run.expect_log(&["run:started {}", "step:started a 1", "run:cancelled"]).await;
    run.expect_idle().await;
}

/// Inputs and outputs stay as they are, so that the condition is not met again.
async fn condition(cx: Arc<Cx>) {
    let picky = single("picky").only_if(json!({"go": true})).unmet(pgflow_model::OnSkip::Fail);
    let flow = cx.flow([picky, single("other")]).await;
    let run = cx.start(&flow, json!({})).await;
    let failed = ["step:failed picky Condition not met", "run:failed Condition not met"];
    run.expect_log_end(&failed).await;
    assert_eq!(run.retry().await, Retried::Retried);
    run.expect_log_end(&["run:retried", failed[0], failed[1]]).await;
    run.expect_state(RunStatus::Failed, &["other:created", "picky:failed"]).await;
    run.expect_idle().await;
}

/// Queued ones too, and with what is left of their delay or less.
async fn waiting_steps(cx: Arc<Cx>) {
    let flow = cx
        .flow([single("bad"), single("later").start_delay(1_000), single("end").after("later")])
        .await;
    let run = cx.start(&flow, json!({})).await;
    let [bad] = run.take(["bad#0"]).await;
    run.fail_for_good(&bad, "boom").await;
    run.advance(2_000).await;
    assert_eq!(names(&cx.claim(&flow).await), [""; 0]);
    assert_eq!(run.retry().await, Retried::Retried);
    let [bad, later] = run.take(["bad#0", "later#0"]).await;
    run.done(&bad, 1).await;
    run.done(&later, 1).await;
    let [end] = run.take(["end#0"]).await;
    run.done(&end, 1).await;
    run.expect_state(RunStatus::Completed, &["bad:completed", "later:completed", "end:completed"])
        .await;
    run.expect_log_end(&["run:completed {\"bad\":1,\"end\":1}"]).await;
}
