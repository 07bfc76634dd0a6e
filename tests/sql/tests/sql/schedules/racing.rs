//! Who comes while a schedule is being changed.

use super::database;
use crate::harness::Waiting;

/// What is said, and what is there then, if it is replaced, or removed and made again, while this call waits for it.
async fn beside(before: &str, change: &str, call: &str) -> (String, Vec<String>) {
    let db = database().await;
    db.run("select pgflow.create_schedule('s', 'f', '@daily')").await;
    db.run(before).await;
    let mut one = db.session().await;
    one.run("begin").await;
    one.run(change).await;
    let call = Waiting::for_a_lock(&db, call).await;
    one.run("commit").await;
    let said = call.answer().await.expect("an answer").concat();
    db.check().await;
    (said, db.rows("select cron, paused_at is not null from pgflow.schedules").await)
}

const REPLACE: &str = "select pgflow.create_schedule('s', 'f', '@hourly')";

#[tokio::test]
async fn what_is_done_with_a_schedule_that_is_being_replaced_is_done_with_the_new_one() {
    let pause = beside("select", REPLACE, "select pgflow.pause_schedule('s')").await;
    assert_eq!(pause, ("t".to_owned(), vec!["@hourly|t".to_owned()]));
    let paused = "select pgflow.pause_schedule('s')";
    let resume = beside(paused, REPLACE, "select pgflow.resume_schedule('s')").await;
    assert_eq!(resume, ("t".to_owned(), vec!["@hourly|f".to_owned()]));
    let remove = beside("select", REPLACE, "select pgflow.remove_schedule('s')").await;
    assert_eq!(remove, ("t".to_owned(), vec![]));
}

#[tokio::test]
async fn what_was_removed_meanwhile_was_not_paused_before() {
    let again =
        "select pgflow.remove_schedule('s'); select pgflow.create_schedule('s', 'f', '@hourly')";
    let pause = beside("select", again, "select pgflow.pause_schedule('s')").await;
    assert_eq!(pause, ("NULL".to_owned(), vec!["@hourly|f".to_owned()]), "there was none");
}

#[tokio::test]
async fn what_was_found_out_about_one_that_was_removed_does_not_count() {
    let db = database().await;
    let create = "select pgflow.create_schedule('s', 'f', '@daily')";
    db.run(create).await;
    let seen = db.one("select revision from pgflow.schedules").await;
    db.run("select pgflow.remove_schedule('s')").await;
    db.run(create).await;
    let late = format!(
        "select outcome from pgflow.advance_schedule('s', {seen}, array[clock_timestamp()], array[gen_random_uuid()], '2999-01-01')"
    );
    assert_eq!(db.one(&late).await, "superseded");
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "0");
}
