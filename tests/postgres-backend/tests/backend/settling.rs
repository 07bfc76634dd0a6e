//! Batches of results.

use std::time::Duration;

use pgflow_machine::Settled::{AlreadySettled, Applied, Fenced, RunEnded, Unknown};
use pgflow_machine::{
    Beat, Happened, Lease, Retry, RunStatus, Settle, Settled, TaskKey, TaskLease, Verdict,
};
use pgflow_model::StepShape;
use pgflow_postgres_backend_tests::{Bench, done, room, start};
use pgflow_runtime::backend::{ClaimedTask, Parts, Quota, Retried, Runs, Work};
use serde_json::{Value, json};

fn failed(task: &ClaimedTask, retry: Retry) -> Settle {
    let verdict = Verdict::Failed { error: "no\0 luck".into(), retry };
    Settle { lease: task.lease.clone().into(), verdict }
}

fn released(task: &ClaimedTask) -> Settle {
    Settle { lease: task.lease.clone().into(), verdict: Verdict::Released }
}

/// A map of ten, with all its tasks.
async fn map(bench: &Bench) -> Vec<ClaimedTask> {
    bench.define("map", [StepShape::new("each").map()]).await;
    start(&bench.postgres, "map", (0..10).collect()).await;
    let mut tasks = bench.claim().await;
    tasks.sort_by_key(|task| task.lease.task.index);
    assert_eq!(tasks.len(), 10);
    tasks
}

#[tokio::test]
async fn outcomes_come_in_the_callers_order() {
    let bench = Bench::new().await;
    let tasks = map(&bench).await;
    let stale = |task: &ClaimedTask| {
        let mut settle = done(task, json!(0));
        let Lease::Task(lease) = &mut settle.lease else { unreachable!("no jobs here") };
        lease.attempt += 1;
        settle
    };
    let mut unknown = done(&tasks[0], json!(0));
    let Lease::Task(lease) = &mut unknown.lease else { unreachable!("no jobs here") };
    lease.task.index = 99;
    let batch = [
        failed(&tasks[9], Retry::ByPolicy),
        done(&tasks[3], json!(3)),
        unknown,
        released(&tasks[5]),
        stale(&tasks[1]),
        done(&tasks[0], json!(0)),
        done(&tasks[3], json!("again")),
    ];
    let work = bench.postgres.settle(&batch, None).await.unwrap();
    assert_eq!(work.settled, [Applied, Applied, Unknown, Applied, Fenced, Applied, AlreadySettled]);
    // The same once more, as after an answer that got lost.
    let work = bench.postgres.settle(&batch, None).await.unwrap();
    let expected =
        [Fenced, AlreadySettled, Unknown, Fenced, Fenced, AlreadySettled, AlreadySettled];
    assert_eq!(work.settled, expected);
    bench.db.check().await;
}

#[tokio::test]
async fn what_a_result_made_ready_is_claimed_on_the_same_trip() {
    let bench = Bench::new().await;
    bench.start().await;
    let task = bench.claim().await.remove(0);
    let work = bench.postgres.settle(&[done(&task, json!(1))], Some(&room(10))).await.unwrap();
    assert_eq!(work.settled, [Settled::Applied]);
    let tasks: Vec<_> = work.claimed.tasks.iter().map(|task| &*task.lease.task.step).collect();
    assert_eq!(tasks, ["second"]);
    let nothing = bench.postgres.settle(&[], Some(&room(10))).await.unwrap();
    assert!(nothing.settled.is_empty() && nothing.claimed.tasks.is_empty());
}

#[tokio::test]
async fn a_released_attempt_does_not_count_and_its_number_is_not_used_again() {
    let bench = Bench::new().await;
    bench.start().await;
    for attempt in 1..=5 {
        let task = bench.claim().await.remove(0);
        assert_eq!(task.lease.attempt, attempt);
        let work = bench.postgres.settle(&[released(&task)], None).await.unwrap();
        assert_eq!(work.settled, [Settled::Applied]);
        let work = bench.postgres.settle(&[done(&task, json!(1))], None).await.unwrap();
        assert_eq!(work.settled, [Settled::Fenced]);
    }
}

#[tokio::test]
async fn a_release_on_the_way_to_a_claim_is_not_one_of_what_is_claimed() {
    let bench = Bench::new().await;
    let run = bench.start().await;
    let task = TaskKey { run, step: "first".into(), index: 0 };
    let early = Settle { lease: TaskLease { task, attempt: 1 }.into(), verdict: Verdict::Released };
    let work = bench.postgres.settle(&[early], Some(&room(1))).await.unwrap();
    assert_eq!(work.settled, [Settled::Fenced]);
    let leases: Vec<_> = work.claimed.tasks.into_iter().map(|task| task.lease.into()).collect();
    assert_eq!(bench.postgres.heartbeat(&leases).await.unwrap(), [Beat::Extended]);
}

#[tokio::test]
async fn a_fatal_failure_ends_the_run_and_a_retry_goes_on_from_there() {
    let bench = Bench::new().await;
    let run = bench.start().await;
    let task = bench.claim().await.remove(0);
    bench.postgres.settle(&[failed(&task, Retry::Never)], None).await.unwrap();
    let record = bench.postgres.run(run, Parts::Steps).await.unwrap().unwrap();
    assert_eq!(record.status, RunStatus::Failed);
    assert_eq!(record.steps[0].error.as_deref(), Some("no\u{fffd} luck"));
    let late = bench.postgres.settle(&[done(&task, json!(1))], None).await.unwrap();
    assert_eq!(late.settled, [Settled::RunEnded]);
    assert_eq!(bench.postgres.retry(run).await.unwrap(), Retried::Retried);
    let task = bench.claim().await.remove(0);
    assert_eq!(task.lease.attempt, 2);
    let events = bench.postgres.events(run, 0, 100).await.unwrap();
    assert!(events.iter().any(|event| event.what == Happened::RunRetried), "{events:?}");
}

#[tokio::test]
async fn a_failure_may_ask_for_its_own_delay() {
    let bench = Bench::new().await;
    bench.start().await;
    let task = bench.claim().await.remove(0);
    let later = failed(&task, Retry::After(Duration::from_hours(1)));
    bench.postgres.settle(&[later], None).await.unwrap();
    assert_eq!(bench.claim().await, []);
    bench.sql("update pgmq.q_two set vt = vt - interval '50 minutes'").await;
    assert_eq!(bench.claim().await, []);
    bench.sql("update pgmq.q_two set vt = vt - interval '10 minutes'").await;
    assert_eq!(bench.claim().await.len(), 1);
}

#[tokio::test]
async fn an_output_that_cannot_be_stored_fails_and_holds_up_nobody() {
    let bench = Bench::new().await;
    let tasks = map(&bench).await;
    let outputs = [json!("a\0b"), json!(0), json!("x".repeat(5 << 20)), json!(3)];
    let batch: Vec<_> =
        tasks.iter().zip(outputs).map(|(task, output)| done(task, output)).collect();
    let work = bench.postgres.settle(&batch[..], None).await.unwrap();
    // Completions come first, then the failure ends the run.
    assert_eq!(work.settled, [Applied, Applied, RunEnded, Applied]);
    let run = bench.postgres.run(tasks[0].lease.task.run, Parts::Steps).await.unwrap().unwrap();
    let error = run.steps[0].error.clone().unwrap();
    assert!(error.contains("NUL"), "{error}");
}

#[tokio::test]
async fn heartbeats_are_answered_in_the_callers_order() {
    let bench = Bench::new().await;
    let tasks = map(&bench).await;
    let mut stale = tasks[4].lease.clone();
    stale.attempt += 1;
    let twice = tasks[7].lease.clone();
    let leases = [twice.clone(), stale, tasks[1].lease.clone(), twice].map(Lease::from);
    let beats = bench.postgres.heartbeat(&leases).await.unwrap();
    assert_eq!(beats, [Beat::Extended, Beat::Lost, Beat::Extended, Beat::Extended]);
    bench.postgres.cancel(tasks[0].lease.task.run, None).await.unwrap();
    let beats = bench.postgres.heartbeat(&leases).await.unwrap();
    assert_eq!(beats[0], Beat::Cancelled);
    assert!(bench.postgres.heartbeat(&[]).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_worker_takes_no_more_of_a_step_than_it_has_room_for() {
    let bench = Bench::new().await;
    bench.define("map", [StepShape::new("each").map()]).await;
    start(&bench.postgres, "map", (0..10).collect()).await;
    bench.start().await;
    let mut claim = room(100);
    claim.wants[1].quotas = vec![Quota { step: "each".into(), max: 3 }];
    let tasks = bench.postgres.claim(&claim).await.unwrap().tasks;
    assert_eq!(tasks.iter().filter(|task| task.flow == "map").count(), 3);
    assert_eq!(tasks.iter().filter(|task| task.flow == "two").count(), 1);
    claim.wants[1].quotas[0].max = 0;
    assert!(bench.postgres.claim(&claim).await.unwrap().tasks.is_empty());
}

#[tokio::test]
async fn a_lost_task_is_swept_up_and_its_old_attempt_is_fenced() {
    let bench = Bench::new().await;
    bench.start().await;
    let old = bench.claim().await.remove(0);
    assert_eq!(bench.postgres.sweep().await.unwrap().requeued, 0);
    bench.sql("update pgflow.step_tasks set started_at = started_at - interval '1 hour', queued_at = queued_at - interval '1 hour'").await;
    assert_eq!(bench.postgres.sweep().await.unwrap().requeued, 1);
    let new = bench.claim().await.remove(0);
    assert_eq!(new.lease.attempt, 2);
    let work =
        bench.postgres.settle(&[done(&old, json!("old")), done(&new, json!("new"))], None).await;
    // Of one task twice, the first is asked first.
    assert_eq!(work.unwrap().settled, [Settled::Fenced, Settled::Applied]);
    let steps =
        bench.postgres.run(old.lease.task.run, Parts::Outputs).await.unwrap().unwrap().steps;
    assert_eq!(steps[0].output, Some(Value::from("new")));
}

#[tokio::test]
async fn a_worker_that_was_forgotten_introduces_itself_again() {
    let bench = Bench::new().await;
    let claim = room(10);
    bench.postgres.claim(&claim).await.unwrap();
    bench.sql("delete from pgflow.workers").await;
    bench.start().await;
    assert_eq!(bench.postgres.claim(&claim).await.unwrap().tasks.len(), 1);
}
