//! The checks of `runs`, one by one.

use crate::harness::{Db, define};

async fn update(db: &Db, values: &str) -> String {
    let failure = db.error(&format!("update pgflow.runs set {values}")).await;
    assert_eq!(failure.code, "23514", "{failure}");
    failure.constraint.expect("a constraint")
}

#[tokio::test]
async fn runs_refuse_what_cannot_be() {
    let db = Db::with(&define("f", &["a"])).await;
    db.start("f", "1").await;
    for (values, constraint) in [
        ("status = 'lost'", "status_is_valid"),
        ("remaining_steps = -1", "runs_remaining_steps_check"),
        ("completed_at = now(), failed_at = now()", "completed_at_or_failed_at"),
        ("completed_at = now(), cancelled_at = now()", "completed_at_or_failed_at"),
    ] {
        assert_eq!(update(&db, values).await, constraint, "{values}");
    }
    for end in ["completed_at", "failed_at", "cancelled_at"] {
        update(&db, &format!("{end} = started_at - interval '1 s'")).await;
    }
    db.check().await;
}

#[tokio::test]
async fn a_run_needs_its_flow() {
    let db = Db::with(&define("f", &["a"])).await;
    db.start("f", "1").await;
    let failure = db.error("insert into pgflow.runs (flow_slug, input) values ('nope', '1')").await;
    assert_eq!(failure.constraint.as_deref(), Some("runs_flow_slug_fkey"));
}
