//! Runs whose outputs are large.

use std::time::Duration;

use pgflow_machine::{RunId, RunStatus, StepStatus, WorkerId};
use pgflow_model::StepShape;
use pgflow_postgres_backend_tests::{Bench, start};
use pgflow_runtime::backend::{Claim, Parts, Runs, Work};
use pgflow_runtime::postgres::{Postgres, PostgresOptions};
use serde_json::{Value, json};

const TASKS: usize = 36;
const BYTES: usize = 4_000_000;

/// Completes what can be had, each task with a text of so many bytes.
const COMPLETE: &str = "
  do $$
  declare
    v_task record;
  begin
    for v_task in select * from pgflow.claim_tasks(array['large'], 100) loop
      perform pgflow.complete_task(v_task.run_id, v_task.step_slug, v_task.task_index, to_jsonb(repeat('x', 4000000)));
    end loop;
  end;
  $$";

/// A run of two maps, one over what the other put out: 144 MB each.
async fn completed(bench: &Bench) -> RunId {
    let steps = [StepShape::new("one").map(), StepShape::new("two").map().after("one")];
    bench.define("large", steps).await;
    let elements: Value = (0..TASKS).map(Value::from).collect();
    let run = start(&bench.postgres, "large", elements).await;
    loop {
        bench.sql(COMPLETE).await;
        let found = bench.postgres.statuses(&[run]).await.expect("a status reads no output");
        if found[0].status == RunStatus::Completed {
            return run;
        }
    }
}

#[tokio::test]
async fn what_is_large_is_not_read_unless_asked_for_and_then_in_pieces() {
    let bench = Bench::new().await;
    let run = completed(&bench).await;
    let steps = bench.postgres.run(run, Parts::Steps).await.expect("states").expect("it is there");
    assert_eq!((steps.input, steps.output), (None, None));
    let facts: Vec<_> = steps.steps.iter().map(|step| (step.status, step.tasks)).collect();
    assert_eq!(facts, [(StepStatus::Completed, Some(36)); 2]);

    let page = bench.postgres.outputs(run, "one", 0).await.expect("a page");
    assert_eq!(page.len(), 2, "a page is about 4 MiB");
    let last = bench.postgres.outputs(run, "one", 35).await.expect("the last page");
    assert_eq!(last.len(), 1);
    assert_eq!(bench.postgres.outputs(run, "one", 36).await.expect("none left"), [] as [Value; 0]);

    let record = bench.postgres.run(run, Parts::Run).await.expect("readable").expect("there");
    let Some(Value::Object(output)) = &record.output else { panic!("an output") };
    assert_eq!(output.keys().collect::<Vec<_>>(), ["two"]);
    assert_eq!(bytes_of(&output["two"]), TASKS * BYTES);
}

fn bytes_of(output: &Value) -> usize {
    let elements = output.as_array().expect("of a map");
    elements.iter().map(|element| element.as_str().expect("a text").len()).sum()
}

#[tokio::test]
async fn all_outputs_can_be_read_however_large_they_are_together() {
    let bench = Bench::new().await;
    let run = completed(&bench).await;
    let whole = bench.postgres.run(run, Parts::Outputs).await.expect("readable").expect("there");
    for step in &whole.steps {
        assert_eq!(step.output.as_ref().map(bytes_of), Some(TASKS * BYTES));
    }
}

#[tokio::test]
async fn a_worker_reads_the_input_of_a_run_alone() {
    let bench = Bench::new().await;
    let run = start(&bench.postgres, "two", json!({ "order": 7 })).await;
    assert_eq!(bench.postgres.input(run).await.expect("readable"), Some(json!({ "order": 7 })));
    assert_eq!(bench.postgres.input(RunId::new()).await.expect("readable"), None);
}

fn claim(flow: &str) -> Claim {
    Claim::of_queues([flow], 10, WorkerId::new())
}

/// The core names it, and the backend fetches it: a value of this size takes a statement many seconds.
#[tokio::test]
async fn a_task_is_given_all_of_what_is_large() {
    let bench = Bench::new().await;
    let steps = [StepShape::new("one").map(), StepShape::new("last").after("one")];
    bench.define("large", steps).await;
    start(&bench.postgres, "large", (0..TASKS).map(Value::from).collect()).await;
    bench.sql(COMPLETE).await;
    let tasks = bench.postgres.claim(&claim("large")).await.expect("a claim").tasks;
    assert_eq!(tasks.len(), 1);
    let Value::Object(input) = &tasks[0].input else { panic!("an object") };
    assert_eq!(input.keys().collect::<Vec<_>>(), ["one", "run"]);
    assert_eq!(bytes_of(&input["one"]), TASKS * BYTES);
}

const SLOW: &str = "
  create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(1.5); return null; end';
  create trigger slow after update on pgflow.step_tasks for each statement execute function slow()";

/// Otherwise it would be asked for again for ever.
#[tokio::test]
async fn a_statement_that_took_too_long_gets_more_time() {
    let bench = Bench::new().await;
    let options = PostgresOptions { answer_within: Duration::from_secs(1), ..bench.options() };
    let postgres = Postgres::open(options).await.expect("it opens");
    start(&bench.postgres, "two", json!(1)).await;
    bench.sql(SLOW).await;
    let claim = claim("two");
    postgres.claim(&claim).await.expect_err("it takes longer than a second");
    for _ in 0..5 {
        if let Ok(claimed) = postgres.claim(&claim).await {
            assert_eq!(claimed.tasks.len(), 1);
            return;
        }
    }
    panic!("it is ended each time");
}
