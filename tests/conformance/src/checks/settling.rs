//! Settling, once and more than once.

use std::sync::Arc;

use pgflow_machine::{Beat, RunId, RunStatus, Settle, Settled, TaskKey, TaskLease};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::{Cx, RELEASED, StepExt, completed, failed, fatal, names, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("C19", "what was settled stays: a second settle changes nothing", settled_twice),
    check!("K10", "of duplicates in a batch the first takes effect", duplicates_in_a_batch),
    check!("K11", "what does not exist is unknown, and disturbs nothing", unknown),
    check!("K12", "a settle claims on the same trip, also what it made ready", settle_and_claim),
    check!("K27", "a released task can be claimed on the same trip", release_and_claim),
    check!("K13", "a settle of a task nobody has claimed changes nothing", not_claimed),
];

async fn settled_twice(cx: Arc<Cx>) {
    let flow = cx.flow([single("a").map().attempts(2), single("b").after("a")]).await;
    let run = cx.start(&flow, json!([1, 2])).await;
    let [first, second] = run.take(["a#0", "a#1"]).await;
    run.done(&first, "one").await;
    for verdict in [completed("other"), completed("one"), failed("x"), fatal("x"), RELEASED] {
        assert_eq!(cx.settle(&first.lease, verdict).await, Settled::AlreadySettled);
    }
    assert_eq!(run.record().await.steps[0].remaining_tasks, Some(1), "counted once");
    run.fail(&second, "boom").await;
    for verdict in [completed("late"), failed("boom"), fatal("boom"), RELEASED] {
        // Queued again already, so that nobody can tell it from a zombie.
        assert_eq!(cx.settle(&second.lease, verdict).await, Settled::Fenced);
    }
    let [again] = run.take(["a#1"]).await;
    run.done(&again, "two").await;
    run.expect_state(RunStatus::Started, &["a:completed", "b:started"]).await;
    run.expect_log_end(&["step:completed a [\"one\",\"two\"]", "step:started b 1"]).await;
}

async fn duplicates_in_a_batch(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a] = run.take(["a#0"]).await;
    let settle = |verdict| Settle { lease: a.lease.clone().into(), verdict };
    let outcomes = cx.settle_all(vec![settle(completed(1)), settle(completed(2))]).await;
    assert_eq!(outcomes, [Settled::Applied, Settled::AlreadySettled]);
    run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    run.expect_log_end(&["step:completed a 1", "run:completed {\"a\":1}"]).await;

    let run = cx.start(&flow, json!({})).await;
    let [a] = run.take(["a#0"]).await;
    let settle = |verdict| Settle { lease: a.lease.clone().into(), verdict };
    let outcomes = cx.settle_all(vec![settle(failed("one")), settle(failed("two"))]).await;
    assert_eq!(outcomes, [Settled::Applied, Settled::Fenced]);
    let [a] = run.take(["a#0"]).await;
    assert_eq!(a.lease.attempt, 2, "one attempt was used");
    run.done(&a, 1).await;
}

async fn unknown(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [a] = run.take(["a#0"]).await;
    let lease = |run, step: &str, index| TaskLease {
        task: TaskKey { run, step: step.into(), index },
        attempt: 1,
    };
    let strange = [lease(RunId::new(), "a", 0), lease(run.id, "nothing", 0), lease(run.id, "a", 1)];
    for verdict in [completed(1), failed("x"), fatal("x"), RELEASED] {
        let all = strange
            .iter()
            .map(|lease| Settle { lease: lease.clone().into(), verdict: verdict.clone() });
        assert_eq!(cx.settle_all(all.collect()).await, [Settled::Unknown; 3]);
    }
    let [one, two, three] = &strange;
    let beats = cx.beat(&[one, &a.lease, two, three]).await;
    assert_eq!(beats, [Beat::Lost, Beat::Extended, Beat::Lost, Beat::Lost]);
    let mixed = [one, three, &a.lease]
        .map(|lease| Settle { lease: lease.clone().into(), verdict: completed(1) });
    let outcomes = cx.settle_all(mixed.to_vec()).await;
    assert_eq!(outcomes, [Settled::Unknown, Settled::Unknown, Settled::Applied]);
    assert_eq!(cx.settle_all(Vec::new()).await, []);
    assert_eq!(cx.beat(&[]).await, []);
    run.expect_state(RunStatus::Completed, &["a:completed"]).await;
    run.expect_log_end(&["step:completed a 1", "run:completed {\"a\":1}"]).await;
}

async fn settle_and_claim(cx: Arc<Cx>) {
    let flow = cx.flow([single("a"), single("b").after("a"), single("c").after("b")]).await;
    let run = cx.start(&flow, json!({})).await;
    let [mut task] = run.take(["a#0"]).await;
    let wish = cx.wish(&flow, 10);
    for next in [&["b#0"][..], &["c#0"], &[]] {
        let settle = [Settle { lease: task.lease.clone().into(), verdict: completed(1) }];
        let work = cx.work(&settle, Some(&wish)).await;
        assert_eq!(work.settled, [Settled::Applied]);
        assert_eq!(names(&work.claimed.tasks), next);
        task = work.claimed.tasks.into_iter().next().unwrap_or(task);
    }
    run.expect_state(RunStatus::Completed, &["a:completed", "b:completed", "c:completed"]).await;
    run.expect_log_end(&["step:completed c 1", "run:completed {\"c\":1}"]).await;

    let run = cx.start(&flow, json!({})).await;
    let work = cx.work(&[], Some(&wish)).await;
    assert_eq!(names(&work.claimed.tasks), ["a#0"], "without a settle it is a claim");
    run.done(&work.claimed.tasks[0], 1).await;
}

async fn not_claimed(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    for attempt in [1, 2, 1_000_000] {
        let lease =
            TaskLease { task: TaskKey { run: run.id, step: "a".into(), index: 0 }, attempt };
        for verdict in [completed(1), failed("x"), fatal("x"), RELEASED] {
            assert_eq!(cx.settle(&lease, verdict).await, Settled::Fenced);
        }
        assert_eq!(cx.beat(&[&lease]).await, [Beat::Lost]);
    }
    let [a] = run.take(["a#0"]).await;
    assert_eq!(a.lease.attempt, 1);
    let ahead = TaskLease { attempt: 2, ..a.lease.clone() };
    assert_eq!(cx.settle(&ahead, completed(1)).await, Settled::Fenced);
    run.done(&a, 1).await;
    run.expect_log_end(&["step:started a 1", "step:completed a 1", "run:completed {\"a\":1}"])
        .await;
}

/// The claim comes after everything that the settles did.
async fn release_and_claim(cx: Arc<Cx>) {
    let flow = cx.flow([single("a")]).await;
    let run = cx.start(&flow, json!({})).await;
    let wish = cx.wish(&flow, 10);
    let [a] = run.take(["a#0"]).await;
    let work = cx.work(&[Settle { lease: a.lease.into(), verdict: RELEASED }], Some(&wish)).await;
    assert_eq!(work.settled, [Settled::Applied]);
    assert_eq!(names(&work.claimed.tasks), ["a#0"]);
    assert_eq!(work.claimed.tasks[0].lease.attempt, 2);
    run.done(&work.claimed.tasks[0], 1).await;
    run.expect_log_end(&["step:completed a 1", "run:completed {\"a\":1}"]).await;
}
