//! Permits, holds and messages.

use super::bench::{Break, each_is_reported_on};
use crate::harness::{Db, define};

/// A resource that two messages hold, of which something is kept.
pub(super) async fn database() -> Db {
    let db = Db::new().await;
    db.run("select pgflow.set_capacity('gpu', 2)").await;
    db.run("select pgflow.submit_jobs('{a,b,c}', '{q,q,q}')").await;
    db.run("select pgflow.keep_messages('{a,b}', '{k,k}', array['{\"gpu\": 1}', null]::jsonb[])")
        .await;
    db.run("select pgflow.lease_messages('w', '{a,b}', 60)").await;
    db.run("select pgflow.note_permits('{resource}', '{gpu}', array['{\"capacity\": 2, \"fence\": 2}']::jsonb[])").await;
    db.run(
        "select pgflow.hold_permits('{gpu,gpu}', array_agg(j.id order by j.id), array_agg(j.token::text order by j.id), '{one,two}', '{1,1}', '{1,2}')
           from pgflow.jobs j where j.token is not null",
    )
    .await;
    db.run("select pgflow.set_capacity('cpu', 2)").await;
    db.run(&define("f", &["m map"])).await;
    db.start("f", "[1, 2]").await;
    db.claim("f").await;
    db.run("select pgflow.note_permits('{resource}', '{cpu}', array['{\"capacity\": 2, \"fence\": 2}']::jsonb[])").await;
    db.run(
        "select pgflow.hold_for_tasks('{cpu,cpu}', array_agg(t.run_id), array_agg(t.step_slug), array_agg(t.task_index), '{1,1}', '{1,1}', '{1,2}')
           from pgflow.step_tasks t",
    )
    .await;
    db.check().await;
    db
}

pub(super) const BREAKS: &[Break] = &[
    ("held_units", "update pgflow.permit_holds set units = 2 where job = 'a'"),
    (
        "held_units",
        "update pgflow.permits set state = state || '{\"capacity\": 1}' where name = 'gpu'",
    ),
    ("hold_of_no_resource", "delete from pgflow.permits where kind = 'resource'"),
    ("hold_fence", "update pgflow.permit_holds set fence = 3 where job = 'a'"),
    ("hold_fence", "update pgflow.permit_holds set fence = 0 where job = 'a'"),
    ("hold_batch", "update pgflow.permit_holds set fence = 1"),
    ("held_units", "update pgflow.task_holds set units = 2 where fence = 1"),
    ("hold_of_no_resource", "update pgflow.task_holds set resource = 'none' where fence = 1"),
    ("hold_fence", "update pgflow.task_holds set fence = 3 where fence = 1"),
    ("hold_fence", "update pgflow.task_holds set fence = 0 where fence = 1"),
    ("message_place", "update pgflow.job_messages set seq = seq + 1 where job = 'b'"),
    ("message_place", "update pgflow.job_messages set need = null where job = 'b'"),
    ("message_of_no_job", "update pgflow.job_messages set job = 'nobody' where job = 'a'"),
    (
        "message_resources",
        "update pgflow.job_messages set resources = '{\"none\": 1}' where job = 'b'",
    ),
    (
        "message_resources",
        "update pgflow.job_messages set resources = '{\"gpu\": 0}' where job = 'b'",
    ),
    (
        "message_resources",
        "update pgflow.job_messages set resources = '{\"gpu\": true}' where job = 'b'",
    ),
    ("message_resources", "update pgflow.job_messages set resources = '[1]' where job = 'b'"),
];

#[tokio::test]
async fn broken_permits_are_reported() {
    each_is_reported_on(&database().await, BREAKS).await;
}

/// What a constraint refuses, `check()` need not look for.
#[tokio::test]
async fn states_that_cannot_be_are_refused() {
    let db = database().await;
    for sql in [
        "update pgflow.permits set state = '{}'",
        "update pgflow.permits set state = '{\"capacity\": 0, \"fence\": 1}'",
        "update pgflow.permits set kind = 'rate'",
        "update pgflow.permits set kind = 'turn'",
        "update pgflow.permits set kind = 'stage'",
        "update pgflow.permits set kind = 'other'",
        "insert into pgflow.permits (kind, name, state) values ('round', 'q', '-1')",
        "insert into pgflow.permits (kind, name, state, lowered) values ('round', 'q', '1', true)",
        "update pgflow.permit_holds set units = 0",
        "update pgflow.task_holds set units = 0",
    ] {
        let failure = db.error(sql).await;
        assert_eq!(failure.code, "23514", "{sql}: {failure}");
    }
}
