//! Runs from the outside.

use pgflow_machine::{Happened, PayloadError, RunId, RunStatus, StepStatus};
use pgflow_model::StepShape;
use pgflow_postgres_backend_tests::{Bench, done, start};
use pgflow_runtime::StartIn;
use pgflow_runtime::backend::{
    BackendError, Cancelled, NewRun, Parts, Retried, RunQuery, Runs, Started, Work,
};
use serde_json::{Value, json};

fn new_run(flow: &str, input: Value) -> NewRun {
    NewRun::new(flow, input, RunId::new())
}

#[tokio::test]
async fn numbers_come_back_as_they_went_in() {
    let bench = Bench::new().await;
    let value = json!({ "u": u64::MAX, "i": i64::MIN, "f": 0.1, "one": 1.0, "big": 9_007_199_254_740_993_u64 });
    let run = start(&bench.postgres, "two", value.clone()).await;
    let tasks = bench.claim().await;
    assert_eq!(tasks[0].input, json!({ "run": value }));
    bench.postgres.settle(&[done(&tasks[0], value.clone())], None).await.unwrap();
    let tasks = bench.claim().await;
    assert_eq!(tasks[0].input, json!({ "run": value, "first": value }));
    bench.postgres.settle(&[done(&tasks[0], value.clone())], None).await.unwrap();
    let events = bench.postgres.events(run, 0, 100).await.unwrap();
    let words: Vec<_> = events.iter().map(|event| event.what.to_string()).collect();
    let expected = [
        "run:started",
        "step:started first",
        "step:completed first",
        "step:started second",
        "step:completed second",
        "run:completed",
    ];
    assert_eq!(words, expected);
    assert_eq!(events[0].what, Happened::RunStarted { input: value.clone() });
    let output = json!({ "second": value });
    assert_eq!(events[5].what, Happened::RunCompleted { output: output.clone() });
    assert!(events.iter().map(|event| event.seq).eq(1..=6));
    assert_eq!(bench.postgres.events(run, 4, 1).await.unwrap(), events[4..5]);
    let record = bench.postgres.run(run, Parts::Outputs).await.unwrap().unwrap();
    assert_eq!((record.status, record.output), (RunStatus::Completed, Some(output)));
    assert_eq!(record.steps[1].output, Some(value));
    bench.db.check().await;
}

/// SQL may start runs with numbers that no type here holds.
#[tokio::test]
async fn what_cannot_be_read_fails_alone() {
    let bench = Bench::new().await;
    let fine = start(&bench.postgres, "two", json!(1)).await;
    let started = "select run_id from pgflow.start_flow('two', '[1e400]')";
    let odd: sqlx::types::Uuid =
        sqlx::query_scalar(started).fetch_one(&bench.db.pool).await.unwrap();
    let tasks = bench.claim().await;
    assert_eq!(tasks.iter().map(|task| task.lease.task.run).collect::<Vec<_>>(), [fine]);
    let states = "select r.status || ' ' || s.error_message from pgflow.runs r join pgflow.step_states s using (run_id)
        where run_id = $1 and s.status = 'failed'";
    let state: String =
        sqlx::query_scalar(states).bind(odd).fetch_one(&bench.db.pool).await.unwrap();
    assert!(state.starts_with("failed cannot read the input: "), "{state}");
    bench.db.check().await;
}

#[tokio::test]
async fn a_run_shows_as_much_as_is_asked_for() {
    let bench = Bench::new().await;
    let run = bench.start().await;
    let task = bench.claim().await.remove(0);
    bench.postgres.settle(&[done(&task, Value::Null)], None).await.unwrap();
    let read = async |parts| bench.postgres.run(run, parts).await.unwrap().unwrap();
    assert!(read(Parts::Run).await.steps.is_empty());
    let steps = read(Parts::Steps).await.steps;
    assert_eq!(steps.iter().map(|step| &*step.slug).collect::<Vec<_>>(), ["first", "second"]);
    assert_eq!((steps[0].status, &steps[0].output), (StepStatus::Completed, &None));
    assert_eq!((steps[1].status, steps[1].remaining_tasks), (StepStatus::Started, Some(1)));
    assert_eq!(read(Parts::Outputs).await.steps[0].output, Some(Value::Null));
    assert_eq!(bench.postgres.run(RunId::new(), Parts::Outputs).await.unwrap(), None);
}

#[tokio::test]
async fn an_id_stands_for_one_run() {
    let bench = Bench::new().await;
    bench.define("other", [StepShape::new("a")]).await;
    let run = new_run("two", json!(1));
    assert_eq!(bench.postgres.start(run.clone()).await.unwrap(), Started::Created);
    assert_eq!(bench.postgres.start(run.clone()).await.unwrap(), Started::Existing);
    let other = NewRun { flow: "other".into(), ..run };
    let error = bench.postgres.start(other).await.unwrap_err();
    assert!(matches!(&error, BackendError::OtherFlow { flow, .. } if flow == "two"), "{error:?}");
}

#[tokio::test]
async fn a_run_that_cannot_start_says_why() {
    let bench = Bench::new().await;
    bench.define("map", [StepShape::new("each").map()]).await;
    let error = bench.postgres.start(new_run("tow", json!(1))).await.unwrap_err();
    assert!(matches!(&error, BackendError::UnknownFlow { flow } if flow == "tow"), "{error:?}");
    let error = bench.postgres.start(new_run("map", json!({}))).await.unwrap_err();
    assert!(matches!(error, BackendError::NotAnArray { found: "object", .. }), "{error:?}");
    let inputs = [
        (
            json!(["x".repeat(5 << 20)]),
            PayloadError::TooLarge { bytes: (5 << 20) + 4, limit: 4 << 20 },
        ),
        (json!(["a\0b"]), PayloadError::Nul { path: "$[0]".into() }),
        (json!(vec![0; 300_000]), PayloadError::TooWide { elements: 300_000, limit: 250_000 }),
        (nested(101), PayloadError::TooDeep { path: "$".into(), limit: 100 }),
    ];
    for (input, expected) in inputs {
        let error = bench.postgres.start(new_run("map", input)).await.unwrap_err();
        let said = matches!(&error, BackendError::Payload { source, .. } if *source == expected);
        assert!(said, "{error:?}");
    }
    assert_eq!(bench.postgres.list(&RunQuery::default()).await.unwrap(), []);
}

fn nested(levels: u32) -> Value {
    // Wide enough that the core looks at it at all.
    (0..levels).fold(json!(1), |inner, _| json!([inner, "a few bytes"]))
}

#[tokio::test]
async fn runs_are_listed_newest_first_page_by_page() {
    let bench = Bench::new().await;
    let mut runs = Vec::new();
    for _ in 0..5 {
        runs.push(bench.start().await);
    }
    runs.reverse();
    let mut query = RunQuery { max: 2, flows: vec!["two".into()], ..RunQuery::default() };
    let mut seen = Vec::new();
    loop {
        let page = bench.postgres.list(&query).await.unwrap();
        query.after = page.last().map(|run| (run.started_at, run.id));
        seen.extend(page.iter().map(|run| run.id));
        if page.len() < 2 {
            break;
        }
    }
    assert_eq!(seen, runs);
    let failed = RunQuery { statuses: vec![RunStatus::Failed], ..RunQuery::default() };
    assert_eq!(bench.postgres.list(&failed).await.unwrap(), []);
}

#[tokio::test]
async fn a_run_is_cancelled_once() {
    let bench = Bench::new().await;
    let run = bench.start().await;
    let cancel = |run| bench.postgres.cancel(run, Some("no\0 more"));
    assert_eq!(cancel(run).await.unwrap(), Cancelled::Cancelled);
    assert_eq!(cancel(run).await.unwrap(), Cancelled::Ended(RunStatus::Cancelled));
    assert_eq!(cancel(RunId::new()).await.unwrap(), Cancelled::Unknown);
    assert_eq!(bench.postgres.retry(run).await.unwrap(), Retried::NotFailed(RunStatus::Cancelled));
    assert_eq!(bench.postgres.retry(RunId::new()).await.unwrap(), Retried::Unknown);
    let record = bench.postgres.run(run, Parts::Run).await.unwrap().unwrap();
    assert_eq!(record.cancel_reason.as_deref(), Some("no\u{fffd} more"));
    assert!(record.ended_at >= Some(record.started_at));
}

#[tokio::test]
async fn a_run_exists_if_and_only_if_the_callers_transaction_commits() {
    let bench = Bench::new().await;
    let mut connection = bench.db.connect().await;
    for (commits, expected) in [(false, None), (true, Some(RunStatus::Started))] {
        let run = new_run("two", json!(1));
        let id = run.id;
        let mut transaction = sqlx::Connection::begin(&mut connection).await.unwrap();
        assert_eq!(transaction.start_run(run).await.unwrap(), Started::Created);
        assert_eq!(bench.postgres.run(id, Parts::Run).await.unwrap(), None);
        assert_eq!(bench.claim().await, []);
        let end = if commits { transaction.commit().await } else { transaction.rollback().await };
        end.unwrap();
        let found = bench.postgres.run(id, Parts::Run).await.unwrap();
        assert_eq!(found.map(|run| run.status), expected);
    }
    assert_eq!(bench.claim().await.len(), 1);
}
