//! Schedules.

use super::bench::Break;
use crate::harness::{Db, define};

/// Two schedules, one of which has started a run.
async fn database() -> Db {
    let db = Db::with(&define("f", &["a"])).await;
    db.run("select pgflow.create_schedule('one', 'f', '@daily', '1')").await;
    db.run("select pgflow.create_schedule('two', 'f', '@daily', '1')").await;
    db.run(
        "select pgflow.advance_schedule('one', 1, array[clock_timestamp()], array[gen_random_uuid()],
                                        now() + interval '1 day')",
    )
    .await;
    db.check().await;
    db
}

pub(super) const BREAKS: &[Break] = &[
    ("schedule_moments", "update pgflow.schedules set next_at = after_at where name = 'one'"),
    (
        "schedule_runs",
        "update pgflow.schedules set last_run = (select last_run from pgflow.schedules where name = 'one') where name = 'two'",
    ),
];

#[tokio::test]
async fn broken_schedules_are_reported() {
    let db = database().await;
    let mut session = db.session().await;
    for (invariant, sql) in BREAKS {
        session.run(&format!("begin; {sql}")).await;
        let reported = session.rows("select distinct invariant from pgflow.check()").await;
        assert!(
            reported.iter().any(|name| name == invariant),
            "{invariant} is not in {reported:?} after {sql}"
        );
        session.run("rollback").await;
    }
    db.check().await;
}
