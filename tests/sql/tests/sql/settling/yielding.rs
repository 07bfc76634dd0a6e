//! `yield_tasks` and `resume_tasks`: not now, and for what reason.

use crate::harness::{Db, Run, define};

fn hold(run: &Run<'_>, attempt: i32) -> String {
    let key = format!("array['{}']::uuid[], array['a'], array[0], array[{attempt}]", run.id);
    format!("select outcome from pgflow.yield_tasks({key}, array[60], array['cannot read it'])")
}

#[tokio::test]
async fn a_task_waits_and_says_for_what() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(db.hides("f", &hold(&run, 1)).await, ["a:60"]);
    let columns = "status, attempts_count, refunded_count, error_message, yield_reason";
    assert_eq!(run.task("a", 0, columns).await, "queued|1|1|NULL|cannot read it");
    let told = format!("select yield_reason from pgflow.get_run_steps('{}')", run.id);
    assert_eq!(db.one(&told).await, "cannot read it");
    let told = format!("select yield_reason from pgflow.list_tasks('{}', 'a')", run.id);
    assert_eq!(db.one(&told).await, "cannot read it");
    assert_eq!(db.claim("f").await.len(), 0, "it is not visible yet");
    assert_eq!(db.one(&hold(&run, 1)).await, "fenced");
    db.check().await;
}

#[tokio::test]
async fn a_program_that_starts_gets_it_at_once_and_it_has_all_its_attempts() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    let run = db.start("f", "{}").await;
    for attempt in 1..=3 {
        assert_eq!(db.claim("f").await.len(), 1);
        assert_eq!(db.one(&hold(&run, attempt)).await, "applied");
        assert_eq!(db.one("select pgflow.resume_tasks('{g}')").await, "0");
        assert_eq!(db.one("select pgflow.resume_tasks('{f}')").await, "1");
        assert_eq!(db.one("select pgflow.resume_tasks('{f}')").await, "0", "it is visible now");
    }
    db.claim("f").await;
    run.complete("a", 0, "1").await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

#[tokio::test]
async fn what_waits_for_its_next_attempt_goes_on_waiting() {
    let db = Db::with(
        "select pgflow.create_flow('f', base_delay => 30); select pgflow.add_step('f', 'a')",
    )
    .await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "held back: says the user").await;
    assert_eq!(db.one("select pgflow.resume_tasks('{f}')").await, "0");
    assert_eq!(db.claim("f").await.len(), 0);
}

#[tokio::test]
async fn arrays_have_one_length() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    for wrong in ["array[1, 2], array['x']", "array[1], array['x', 'y']", "array[-1], array['x']"] {
        let call = format!(
            "select pgflow.yield_tasks(array['{}']::uuid[], array['a'], array[0], array[1], {wrong})",
            run.id
        );
        let failure = db.error(&call).await;
        assert!(matches!(&*failure.code, "2202E" | "22023"), "{wrong}: {failure}");
    }
}
