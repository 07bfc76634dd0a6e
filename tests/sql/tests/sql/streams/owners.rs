//! Streams of tasks.

use crate::harness::{Db, define};

fn append(run: impl std::fmt::Display, attempt: u32, first: u64, text: &str) -> String {
    format!(
        "select outcome, number, appended from pgflow.append_step_chunks('{run}', 'a', 0, {attempt}, {first}, array['{text}'::bytea])"
    )
}

#[tokio::test]
async fn only_the_attempt_that_has_the_task_writes() {
    let db = Db::with(&define("f", &["a; max_attempts => 2"])).await;
    let run = db.start("f", "1").await;
    assert_eq!(db.one(&append(run.id, 1, 0, "x")).await, "superseded|NULL|0", "nobody has it");
    db.claim("f").await;
    assert_eq!(db.one(&append(run.id, 1, 0, "x")).await, "appended|0|1");
    assert_eq!(db.one(&append(run.id, 2, 0, "x")).await, "superseded|NULL|0");
    run.fail("a", 0, "oh").await;
    assert_eq!(db.one(&append(run.id, 1, 1, "y")).await, "superseded|NULL|0");
    let stands = format!(
        "select newest_generation, has_ended, error, is_over from pgflow.read_step_chunks('{}', 'a', 0, 1)",
        run.id
    );
    assert_eq!(db.one(&stands).await, "1|t|abandoned|f");
    db.wake("f").await;
    db.claim("f").await;
    assert_eq!(db.one(&append(run.id, 2, 0, "z")).await, "appended|1|1");
    let close = format!("select outcome from pgflow.close_step_stream('{}', 'a', 0, 2)", run.id);
    assert_eq!(db.one(&close).await, "closed");
    assert_eq!(db.one(&stands.replace("0, 1)", "0, 2)")).await, "2|t|NULL|f", "it may be lost yet");
    run.complete("a", 0, "1").await;
    assert_eq!(db.one(&stands.replace("0, 1)", "0, 2)")).await, "2|t|NULL|t");
    assert_eq!(db.one(&close).await, "superseded");
    let unknown = append(run.id, 1, 0, "x").replace("'a'", "'b'");
    assert_eq!(db.one(&unknown).await, "unknown_task|NULL|0");
    assert_eq!(db.rows(&stands.replace("'a'", "'b'")).await, [""; 0], "there is no such step");
    db.check().await;
    db.run("select pgflow.delete_flow_and_data('f')").await;
    assert_eq!(db.one("select count(*) from pgflow.stream_chunks").await, "0");
    db.check().await;
}

#[tokio::test]
async fn an_attempt_that_says_nothing_has_a_generation_of_its_own() {
    let db = Db::with(&define("f", &["a; max_attempts => 2"])).await;
    let run = db.start("f", "1").await;
    db.claim("f").await;
    db.run(&append(run.id, 1, 0, "x")).await;
    run.fail("a", 0, "oh").await;
    db.wake("f").await;
    db.claim("f").await;
    let close = format!("select outcome from pgflow.close_step_stream('{}', 'a', 0, 2)", run.id);
    assert_eq!(db.one(&close).await, "closed");
    let stands = format!(
        "select newest_generation, begins_at, has_ended, is_over from pgflow.read_step_chunks('{}', 'a', 0, 1)",
        run.id
    );
    assert_eq!(db.one(&stands).await, "2|1|t|f", "what the first one said is none of it");
    db.check().await;
}

#[tokio::test]
async fn an_attempt_that_said_all_and_waits_is_over_until_another_one_has_the_task() {
    let db = Db::with(&define("f", &["a; max_attempts => 2"])).await;
    let run = db.start("f", "1").await;
    db.claim("f").await;
    db.run(&append(run.id, 1, 0, "x")).await;
    db.run(&format!("select pgflow.close_step_stream('{}', 'a', 0, 1)", run.id)).await;
    let stands =
        format!("select has_ended, is_over from pgflow.read_step_chunks('{}', 'a', 0, 1)", run.id);
    assert_eq!(db.one(&stands).await, "t|f", "nobody knows yet that it waits");
    let wait = format!(
        r#"select outcome from pgflow.wait_tasks(array['{}']::uuid[], array['a'], array[0], array[1],
             array['{{"on": "hook", "token": "t", "timeout": 0}}']::jsonb[])"#,
        run.id
    );
    assert_eq!(db.one(&wait).await, "applied");
    assert_eq!(db.one(&stands).await, "t|t", "this attempt says no more");
    assert_eq!(db.one(&append(run.id, 1, 1, "y")).await, "superseded|NULL|0");
    assert_eq!(db.one("select timed_out from pgflow.wake_waits()").await, "1");
    assert_eq!(db.one(&stands).await, "t|f", "another attempt says it again");
    db.check().await;
}
