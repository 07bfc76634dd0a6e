//! Many starts at once: each caller gets the answer to his own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::RunId;
use pgflow_model::StepShape;
use pgflow_postgres_backend_tests::{Bench, Gate, Wire, start};
use pgflow_runtime::backend::{Backend, BackendError, NewRun, Runs, Started};
use pgflow_runtime::postgres::{Postgres, PostgresOptions};
use pgflow_test_support::{PgBouncer, PoolMode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

type Outcome = Result<Started, BackendError>;

fn new_run(flow: &str, input: Value) -> NewRun {
    NewRun::new(flow, input, RunId::new())
}

/// Starts all of them at once; the answers by position.
fn start_all(postgres: &Arc<Postgres>, runs: &[NewRun]) -> JoinSet<(usize, Outcome)> {
    let mut starts = JoinSet::new();
    for (at, run) in runs.iter().cloned().enumerate() {
        let postgres = Arc::clone(postgres);
        starts.spawn(async move { (at, postgres.start(run).await) });
    }
    starts
}

/// Waits for all answers, but not for ever.
async fn answers(starts: JoinSet<(usize, Outcome)>) -> Vec<Outcome> {
    let answers = tokio::time::timeout(Duration::from_mins(1), starts.join_all());
    let answers: BTreeMap<_, _> = answers.await.expect("somebody hangs").into_iter().collect();
    answers.into_values().collect()
}

fn deep() -> Value {
    (0..200).fold(json!(1), |inner, _| json!({ "in": inner }))
}

/// Ids that are not new.
struct Ids {
    /// Of a run of another flow.
    taken: RunId,
    /// Of twenty starts.
    same: RunId,
}

/// From the third to the eighth of every ten, something is special.
fn special(at: usize, ids: &Ids) -> NewRun {
    match at % 10 {
        2 => new_run("nowhere", json!(at)),
        3 => new_run("two", json!({ "text": "a\0b" })),
        4 => NewRun { id: ids.taken, ..new_run("two", json!(at)) },
        5 => NewRun { id: ids.same, ..new_run("two", json!(at)) },
        6 => new_run("map", json!(at)),
        7 => new_run("two", deep()),
        8 => new_run("map", json!([at, at])),
        _ => new_run("two", json!(at)),
    }
}

fn is_right(at: usize, answer: &Outcome, ids: &Ids) -> bool {
    match (at % 10, answer) {
        (2, Err(BackendError::UnknownFlow { flow })) => flow == "nowhere",
        (4, Err(BackendError::OtherFlow { run, flow })) => *run == ids.taken && flow == "other",
        (6, Err(BackendError::NotAnArray { flow, .. })) => flow == "map",
        (3 | 7, Err(BackendError::Payload { .. }))
        | (5, Ok(_))
        | (0 | 1 | 8 | 9, Ok(Started::Created)) => true,
        _ => false,
    }
}

async fn good_and_bad(bench: &Bench, postgres: &Arc<Postgres>) {
    bench.define("other", [StepShape::new("only")]).await;
    bench.define("map", [StepShape::new("each").map()]).await;
    let taken = start(&bench.postgres, "other", json!(1)).await;
    let ids = Ids { taken, same: RunId::new() };
    let runs: Vec<NewRun> = (0..200).map(|at| special(at, &ids)).collect();
    let answers = answers(start_all(postgres, &runs)).await;
    for (at, answer) in answers.iter().enumerate() {
        assert!(is_right(at, answer, &ids), "number {at}: {answer:?}");
    }
    let same = answers.iter().skip(5).step_by(10);
    let created = same.filter(|answer| matches!(answer, Ok(Started::Created))).count();
    assert_eq!(created, 1, "of the one that was started twenty times");
    let inputs: Vec<i64> = sqlx::query_scalar(
        "select (input #>> '{}')::bigint from pgflow.runs
          where flow_slug = 'two' and run_id <> $1 order by 1",
    )
    .bind(ids.same.0)
    .fetch_all(&bench.db.pool)
    .await
    .unwrap();
    let good = (0..200).filter(|at| matches!(at % 10, 0 | 1 | 9));
    assert_eq!(inputs, good.collect::<Vec<_>>(), "each of them once");
    bench.db.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bad_ones_do_not_hurt_the_good_ones() {
    let bench = Bench::new().await;
    let postgres = Arc::new(bench.other().await);
    good_and_bad(&bench, &postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nor_behind_a_pooler() {
    let bench = Bench::new().await;
    let bouncer = PgBouncer::start(&bench.db, PoolMode::Transaction);
    let postgres = Arc::new(Postgres::connect(&bouncer.url()).await.unwrap());
    good_and_bad(&bench, &postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_two_flows_want_goes_to_one_of_them() {
    let bench = Bench::new().await;
    bench.define("other", [StepShape::new("only")]).await;
    let postgres = Arc::new(bench.other().await);
    let run = new_run("two", json!(1));
    let run = |at: usize| NewRun { flow: ["two", "other"][at % 2].to_owned(), ..run.clone() };
    let runs: Vec<NewRun> = (0..60).map(run).collect();
    let answers = answers(start_all(&postgres, &runs)).await;
    let count =
        |wanted: fn(&Outcome) -> bool| answers.iter().filter(|answer| wanted(answer)).count();
    assert_eq!(count(|answer| matches!(answer, Ok(Started::Created))), 1, "{answers:?}");
    assert_eq!(count(|answer| matches!(answer, Ok(Started::Existing))), 29, "{answers:?}");
    assert_eq!(count(|answer| matches!(answer, Err(BackendError::OtherFlow { .. }))), 30);
}

/// Several processes, the same two hundred ids, each in an order of its own.
#[tokio::test(flavor = "multi_thread")]
async fn processes_that_start_the_same_runs_agree() {
    let bench = Bench::new().await;
    let mut runs: Vec<NewRun> = (0..200).map(|at| new_run("two", json!(at))).collect();
    let mut all = Vec::new();
    for _ in 0..4 {
        runs.rotate_left(53);
        runs.reverse();
        all.push(start_all(&Arc::new(bench.other().await), &runs));
    }
    let mut created = 0;
    for starts in all {
        let answers = answers(starts).await;
        created += answers.iter().filter(|answer| matches!(answer, Ok(Started::Created))).count();
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    }
    assert_eq!(created, 200);
    bench.db.check().await;
}

/// The second in line delivers for those who came meanwhile, and leaves on the way.
#[tokio::test(flavor = "multi_thread")]
async fn callers_who_leave_take_nobody_with_them() {
    let bench = Bench::new().await;
    let postgres = Arc::new(bench.other().await);
    let runs: Vec<NewRun> = (0..100).map(|at| new_run("two", json!(at))).collect();
    let gate = Gate::close(&bench.db).await;
    let first = start_all(&postgres, &runs[..1]);
    gate.wait_for("%start_run(%").await;
    let mut second = start_all(&postgres, &runs[1..2]);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let staying = start_all(&postgres, &runs[2..80]);
    let mut leaving = start_all(&postgres, &runs[80..]);
    tokio::time::sleep(Duration::from_millis(100)).await;
    leaving.abort_all();
    let gate = gate.let_one_through().await;
    gate.wait_for("%unnest($1::text[]%").await;
    second.abort_all();
    assert!(second.join_next().await.is_some_and(|left| left.is_err()), "it was under way");
    gate.open().await;
    for answers in [answers(first).await, answers(staying).await] {
        // What the second had sent took effect, or not.
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    }
    for run in runs {
        postgres.start(run).await.unwrap();
    }
    bench.db.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_is_closed_answers_everybody() {
    let bench = Bench::new().await;
    let postgres = Arc::new(bench.other().await);
    let runs: Vec<NewRun> = (0..200).map(|at| new_run("two", json!(at))).collect();
    let gate = Gate::close(&bench.db).await;
    let starts = start_all(&postgres, &runs);
    gate.wait_for("%start_run(%").await;
    let closing = tokio::time::timeout(Duration::from_mins(1), postgres.close());
    closing.await.expect("closing hangs").unwrap();
    gate.open().await;
    let answers = answers(starts).await;
    let started = answers.iter().filter(|answer| answer.is_ok()).count();
    let closed = answers.iter().filter(|answer| matches!(answer, Err(BackendError::Closed)));
    assert_eq!((started, closed.count()), (1, 199), "only what was under way");
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_answer_is_lost_each_caller_may_ask_again() {
    let bench = Bench::new().await;
    let wire = Wire::to(&bench.db).await;
    let postgres = Arc::new(Postgres::connect(&wire.url()).await.unwrap());
    let runs: Vec<NewRun> = (0..40).map(|at| new_run("two", json!(at))).collect();
    let gate = Gate::close(&bench.db).await;
    let mut first = start_all(&postgres, &runs[..1]);
    gate.wait_for("%start_run(%").await;
    let others = start_all(&postgres, &runs[1..]);
    tokio::time::sleep(Duration::from_millis(200)).await;
    let gate = gate.let_one_through().await;
    assert!(matches!(first.join_next().await, Some(Ok((0, Ok(Started::Created))))));
    gate.wait_for("%unnest($1::text[]%").await;
    wire.lose_answers();
    gate.open().await;
    let lost = answers(others).await;
    let is_unknown = |answer: &Outcome| matches!(answer, Err(BackendError::Unreachable(_)));
    assert!(lost.iter().all(is_unknown), "{lost:?}");
    wire.heal();
    let again = answers(start_all(&postgres, &runs)).await;
    assert!(again.iter().all(|answer| matches!(answer, Ok(Started::Existing))), "{again:?}");
    bench.db.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_wire_keeps_nobody_waiting_for_long() {
    let bench = Bench::new().await;
    bench.define("map", [StepShape::new("each").map()]).await;
    let wire = Wire::to(&bench.db).await;
    let options = PostgresOptions {
        answer_within: Duration::from_millis(500),
        ..PostgresOptions::new(wire.url())
    };
    let postgres = Arc::new(Postgres::open(options).await.unwrap());
    start(&postgres, "two", json!(1)).await;
    wire.fall_silent();
    // Those that map over an array are not gathered.
    for run in [|at: i32| new_run("two", json!(at)), |at| new_run("map", json!([at]))] {
        let runs: Vec<NewRun> = (0..200).map(run).collect();
        // One after the other they would take more than the minute that they have.
        let answers = answers(start_all(&postgres, &runs)).await;
        let is_temporary =
            |answer: &Outcome| answer.as_ref().is_err_and(BackendError::is_temporary);
        assert!(answers.iter().all(is_temporary), "{answers:?}");
    }
}

/// Together they would take longer than an answer may.
#[tokio::test(flavor = "multi_thread")]
async fn big_inputs_do_not_add_up() {
    let bench = Bench::new().await;
    let options = PostgresOptions { answer_within: Duration::from_secs(5), ..bench.options() };
    let postgres = Arc::new(Postgres::open(options).await.unwrap());
    let text = "lorem ipsum ".repeat(200_000);
    let runs: Vec<NewRun> = (0..15).map(|_| new_run("two", json!({ "text": text }))).collect();
    let answers = answers(start_all(&postgres, &runs)).await;
    assert!(answers.iter().all(|answer| matches!(answer, Ok(Started::Created))), "{answers:?}");
}
