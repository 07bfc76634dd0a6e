//! Run ids: given or made.

use crate::harness::{Db, define};

const GIVEN: &str = "5a0b8f3e-0000-4000-8000-0000000000ff";

#[tokio::test]
async fn a_given_run_id_is_used_once() {
    let db = Db::with(&define("f", &["a"])).await;
    let call = format!("select run_id from pgflow.start_flow('f', '1', run_id => '{GIVEN}')");
    assert_eq!(db.one(&call).await, GIVEN);
    let failure = db.error(&call).await;
    assert_eq!(
        (failure.code.as_str(), failure.constraint.as_deref()),
        ("23505", Some("runs_pkey"))
    );
    assert_eq!(db.one("select count(*) from pgflow.step_tasks").await, "1");
    assert_eq!(db.queue("f").await, ["a#0"]);
    db.check().await;
}

#[tokio::test]
async fn made_run_ids_follow_the_clock() {
    let db = Db::with(&define("f", &["a"])).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(db.start("f", "1").await.id);
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    }
    assert!(ids.is_sorted(), "{ids:?}");
    assert!(ids.iter().all(|id| id.get_version_num() == 7), "{ids:?}");
    assert!(ids.iter().all(|id| id.get_variant() == uuid::Variant::RFC4122), "{ids:?}");
    let age = "abs(extract(epoch from started_at) * 1000
        - ('x' || substr(replace(run_id::text, '-', ''), 1, 12))::bit(48)::bigint) < 60000";
    assert_eq!(db.one(&format!("select bool_and({age}) from pgflow.runs")).await, "t");
    db.check().await;
}

#[tokio::test]
async fn made_run_ids_differ_within_a_millisecond() {
    let db = Db::with(&define("f", &[])).await;
    let many = "select count(distinct r.run_id) from generate_series(1, 200) n,
        lateral pgflow.start_flow('f', to_jsonb(n)) r";
    assert_eq!(db.one(many).await, "200");
    db.check().await;
}
