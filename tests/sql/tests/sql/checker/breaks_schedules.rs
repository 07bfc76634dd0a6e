//! Schedules.

use super::bench::{Break, each_is_reported_on};
use crate::harness::{Db, define};

/// Two schedules, one of which has started a run.
pub(super) async fn database() -> Db {
    let db = Db::with(&define("f", &["a"])).await;
    db.run("select pgflow.create_schedule('one', 'f', '@daily', '1')").await;
    db.run("select pgflow.create_schedule('two', 'f', '@daily', '1')").await;
    db.run(
        "select pgflow.advance_schedule('one', (select revision from pgflow.schedules where name = 'one'), array[clock_timestamp()], array[gen_random_uuid()],
                                        now() + interval '1 day')",
    )
    .await;
    db.check().await;
    db
}

pub(super) const BREAKS: &[Break] = &[
    ("schedule_moments", "update pgflow.schedules set next_at = after_at where name = 'one'"),
    ("schedule_moments", "update pgflow.schedules set last_run = null where name = 'one'"),
    (
        "schedule_moments",
        "update pgflow.schedules set queued_at = array[now(), now()], queued_runs = array[gen_random_uuid(), gen_random_uuid()] where name = 'one'",
    ),
    (
        "schedule_moments",
        "update pgflow.schedules set queued_at = array[now(), now() + interval '1 s'], queued_runs = array[last_run, last_run] where name = 'one'",
    ),
    (
        "schedule_error",
        "update pgflow.schedules set status = 'broken', next_at = null where name = 'one'",
    ),
    (
        "schedule_runs",
        "update pgflow.schedules set last_run = (select last_run from pgflow.schedules where name = 'one') where name = 'two'",
    ),
];

#[tokio::test]
async fn broken_schedules_are_reported() {
    each_is_reported_on(&database().await, BREAKS).await;
}
