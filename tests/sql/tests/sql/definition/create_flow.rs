//! `create_flow`.

use crate::harness::{Db, lit};

const OPTIONS: &str = "opt_max_attempts, opt_base_delay, opt_timeout";

#[tokio::test]
async fn missing_options_become_three_attempts_five_seconds_and_a_minute() {
    let db = Db::new().await;
    let created =
        db.one(&format!("select flow_slug, {OPTIONS} from pgflow.create_flow('f')")).await;
    assert_eq!(created, "f|3|5|60");
    assert_eq!(db.one(&format!("select flow_slug, {OPTIONS} from pgflow.flows")).await, "f|3|5|60");
    db.check().await;
}

#[tokio::test]
async fn the_table_itself_has_a_shorter_default_delay() {
    let db = Db::new().await;
    let row = format!("insert into pgflow.flows (flow_slug) values ('f') returning {OPTIONS}");
    assert_eq!(db.one(&row).await, "3|1|60");
}

#[tokio::test]
async fn options_are_taken_by_name() {
    let db = Db::new().await;
    let call =
        "pgflow.create_flow(flow_slug => 'f', max_attempts => 0, base_delay => 0, timeout => 1)";
    assert_eq!(db.one(&format!("select {OPTIONS} from {call}")).await, "0|0|1");
    db.check().await;
}

#[tokio::test]
async fn an_existing_flow_is_returned_unchanged() {
    let db = Db::new().await;
    let first = db.one("select to_jsonb(f) from pgflow.create_flow('f', 4, 6, 70) f").await;
    let again = db.one("select to_jsonb(f) from pgflow.create_flow('f', 9, 9, 9) f").await;
    assert_eq!(first, again);
    assert_eq!(db.one(&format!("select {OPTIONS} from pgflow.flows")).await, "4|6|70");
    db.check().await;
}

#[tokio::test]
async fn every_flow_gets_its_queue() {
    let db = Db::with("select pgflow.create_flow('f'); select pgflow.create_flow('f')").await;
    assert_eq!(db.one("select queue_name from pgmq.list_queues()").await, "f");
    assert_eq!(db.queue("f").await, [""; 0]);
    assert_eq!(db.archive("f").await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn a_queue_that_is_there_already_is_used() {
    let db = Db::with("select pgmq.create('f'); select pgflow.create_flow('f')").await;
    assert_eq!(db.one("select count(*) from pgmq.list_queues()").await, "1");
    db.check().await;
}

#[tokio::test]
async fn a_lost_queue_comes_back() {
    let db = Db::with("select pgflow.create_flow('f'); select pgmq.drop_queue('f')").await;
    db.run("select pgflow.create_flow('f')").await;
    assert_eq!(db.one("select queue_name from pgmq.list_queues()").await, "f");
}

#[tokio::test]
async fn a_bad_slug_is_refused() {
    let db = Db::new().await;
    let text = "new row for relation \"flows\" violates check constraint \"slug_is_valid\"";
    for slug in ["", "1x", "a-b", "run", "a b"] {
        let failure = db.error(&format!("select pgflow.create_flow({})", lit(slug))).await;
        assert_eq!(failure.to_string(), format!("23514 {text}"), "{slug:?}");
    }
    assert_eq!(db.one("select count(*) from pgmq.list_queues()").await, "0");
}

#[tokio::test]
async fn bad_options_name_their_constraint() {
    let db = Db::new().await;
    for (option, constraint) in [
        ("max_attempts => -1", "opt_max_attempts_is_nonnegative"),
        ("base_delay => -1", "opt_base_delay_is_nonnegative"),
        ("timeout => 0", "opt_timeout_is_positive"),
    ] {
        let failure = db.error(&format!("select pgflow.create_flow('f', {option})")).await;
        assert_eq!(
            (failure.code.as_str(), failure.constraint.as_deref()),
            ("23514", Some(constraint))
        );
    }
    assert_eq!(db.one("select count(*) from pgmq.list_queues()").await, "0");
}

#[tokio::test]
async fn a_slug_that_fits_no_queue_name_is_refused() {
    let db = Db::new().await;
    let (fits, long) = ("a".repeat(47), "a".repeat(48));
    db.run(&format!("select pgflow.create_flow('{fits}')")).await;
    let failure = db.error(&format!("select pgflow.create_flow('{long}')")).await;
    assert!(failure.message.contains(&long) && failure.message.contains("47"), "{failure}");
    assert_eq!(db.one("select count(*) from pgflow.flows").await, "1");
    assert_eq!(db.one("select count(*) from pgmq.list_queues()").await, "1");
    db.check().await;
}

#[tokio::test]
async fn two_slugs_that_differ_in_case_only_would_share_a_queue() {
    let db = Db::with("select pgflow.create_flow('Orders')").await;
    let failure = db.error("select pgflow.create_flow('oRDERS')").await;
    let message = "Flow slug \"oRDERS\" differs from the existing flow \"Orders\" in case only, and would share its queue";
    assert_eq!((&*failure.message, &*failure.code), (message, "23505"));
    assert_eq!(db.one("select flow_slug from pgflow.flows").await, "Orders");
    assert_eq!(db.one("select count(*) from pgmq.list_queues()").await, "1");
    db.run("select pgflow.create_flow('Orders')").await;
    db.check().await;
}

#[tokio::test]
async fn a_slug_with_capitals_works_to_the_end() {
    let db = Db::with("select pgflow.create_flow('Orders'); select pgflow.add_step('Orders', 'A')")
        .await;
    let run = db.start("Orders", "1").await;
    run.finish("A", "2").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"A": 2}"#);
    db.check().await;
}
