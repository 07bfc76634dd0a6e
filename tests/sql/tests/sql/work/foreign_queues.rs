//! Queues of other applications beside ours.

use crate::harness::{Db, define};

/// A queue with a message that nobody of ours has sent, next to a flow.
async fn with_payroll() -> Db {
    let db = Db::with(&define("f", &["a"])).await;
    db.run("select pgmq.create('payroll'); select pgmq.send('payroll', '{\"pay\": 1}')").await;
    db
}

async fn assert_untouched(db: &Db, by: &str) {
    let state = "select read_ct, vt <= clock_timestamp() from pgmq.q_payroll";
    assert_eq!(db.rows(state).await, ["0|t"], "{by}");
}

#[tokio::test]
async fn no_function_touches_them() {
    let db = with_payroll().await;
    let worker = "00000000-0000-4000-8000-000000000001";
    for call in [
        "select pgflow.claim_tasks(array['payroll', 'f'], 10)",
        "select pgflow.claim_tasks(array['payroll'], 10, null, array['payroll'], array['a'], array[5])",
        "select pgflow.claim_tasks(array['PAYROLL', 'F'], 10)",
        "select pgflow.settle_and_claim(null, null, null, null, null, null, null, null, null, null, null, null,
            array['payroll'], 10)",
        "select pgflow.sweep_and_claim(0, array['payroll'], 10)",
        "select pgflow.start_tasks('payroll', array[1], null)",
        &format!("select pgflow.release_unknown_tasks('{worker}', array['payroll'], '{{}}', '{{}}', '{{}}', '{{}}')"),
        "select pgflow.requeue_stalled_tasks(0)",
        "select pgflow.get_flow_versions(array['payroll'])",
        "select pgflow.delete_flow_and_data('payroll')",
        "select pgflow.delete_flow_and_data('PAYROLL')",
    ] {
        db.run(call).await;
        assert_untouched(&db, call).await;
    }
    let poll = "select pgflow.poll_for_tasks('payroll', 30, 10, max_poll_seconds => 0)";
    assert_eq!(db.error(poll).await.code, "42P01");
    assert_untouched(&db, poll).await;
    db.check().await;
}

/// A name that differs in case only means the same tables.
#[tokio::test]
async fn a_flow_is_not_deleted_under_another_spelling() {
    let db = Db::with(&define("f", &["a"])).await;
    db.start("f", "{}").await;
    db.run("select pgflow.delete_flow_and_data('F')").await;
    assert_eq!(db.queue("f").await, ["a#0"]);
    db.check().await;
}

#[tokio::test]
async fn a_flow_does_not_take_over_a_queue_that_is_spelled_differently() {
    let db = Db::new().await;
    db.run("select pgmq.create('Payroll')").await;
    let failure = db.error("select pgflow.create_flow('payroll')").await;
    assert_eq!(failure.code, "23505", "{failure}");
    assert!(failure.message.contains("\"Payroll\""), "{failure}");
}

/// Its owner may put triggers on it, which would run with the rights of the core's owner.
#[tokio::test]
async fn a_flow_does_not_take_over_a_queue_of_another_owner() {
    let db = Db::new().await;
    let owner = format!("{}_payer", db.one("select current_database()").await);
    db.run(&format!(
        "create role {owner}; select pgmq.create('payroll'); alter table pgmq.q_payroll owner to {owner}"
    ))
    .await;
    let failure = db.error("select pgflow.create_flow('payroll')").await;
    assert_eq!(failure.code, "42501", "{failure}");
    assert!(failure.message.contains(&owner), "{failure}");
    db.run(
        "alter table pgmq.q_payroll owner to current_user; select pgflow.create_flow('payroll')",
    )
    .await;
}
