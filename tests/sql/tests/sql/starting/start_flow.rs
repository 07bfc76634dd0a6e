//! `start_flow`: the rows it makes.

use crate::harness::{Db, define};

#[tokio::test]
async fn one_row_comes_back_as_it_is_stored() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let call = "pgflow.start_flow(flow_slug => 'f', input => '{\"n\": 1}')";
    let row = db.one(&format!("select to_jsonb(r) from {call} r")).await;
    assert_eq!(row, db.one("select to_jsonb(r) from pgflow.runs r").await);
    let columns = "flow_slug, status, input, output, remaining_steps, completed_at, failed_at";
    let stored = db.one(&format!("select {columns} from pgflow.runs")).await;
    assert_eq!(stored, r#"f|started|{"n": 1}|NULL|2|NULL|NULL"#);
    db.check().await;
}

#[tokio::test]
async fn every_step_gets_its_state() {
    let db = Db::with(&define("f", &["a", "b after a", "c after a b", "m map after a"])).await;
    let run = db.start("f", "{}").await;
    let states = "select step_slug, status, remaining_tasks, initial_tasks, remaining_deps, output
        from pgflow.step_states order by step_slug";
    let expected = [
        "a|started|1|1|0|NULL",
        "b|created|NULL|1|1|NULL",
        "c|created|NULL|1|2|NULL",
        "m|created|NULL|NULL|1|NULL",
    ];
    assert_eq!(db.rows(states).await, expected);
    assert_eq!(run.step("a", "started_at is not null").await, "t");
    assert_eq!(run.step("b", "started_at is null").await, "t");
    db.check().await;
}

#[tokio::test]
async fn every_root_is_queued_and_nothing_else() {
    let db = Db::with(&define("f", &["a", "b", "c after a b", "d"])).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.tasks().await, ["a#0:queued:0", "b#0:queued:0", "d#0:queued:0"]);
    assert_eq!(db.queue("f").await, ["a#0", "b#0", "d#0"]);
    let task = "started_at, completed_at, failed_at, last_worker_id, error_message, requeued_count";
    assert_eq!(run.task("a", 0, task).await, "NULL|NULL|NULL|NULL|NULL|0");
    db.check().await;
}

#[tokio::test]
async fn a_flow_without_steps_completes_at_once() {
    let db = Db::with(&define("f", &[])).await;
    let call = "pgflow.start_flow('f', '{}')";
    let row = db.one(&format!("select status, output, remaining_steps from {call}")).await;
    assert_eq!(row, "completed|NULL|0");
    let events = db.rows("select event_type from pgflow.events order by seq").await;
    assert_eq!(events, ["run:started", "run:completed"]);
    db.check().await;
}

#[tokio::test]
async fn an_unknown_flow_breaks_the_foreign_key() {
    let db = Db::with(&define("f", &["a"])).await;
    let failure = db.error("select pgflow.start_flow('nope', '{}')").await;
    assert_eq!(failure.code, "23503");
    assert_eq!(failure.constraint.as_deref(), Some("runs_flow_slug_fkey"));
    db.check().await;
}

#[tokio::test]
async fn a_run_that_ends_at_once_is_returned_ended() {
    let unmet = r#"a; required_input_pattern => '{"go": true}', when_unmet => 'fail'"#;
    let db = Db::with(&define("f", &[unmet])).await;
    let call = "pgflow.start_flow('f', '{}')";
    assert_eq!(db.one(&format!("select status, remaining_steps from {call}")).await, "failed|1");
    db.check().await;
}
