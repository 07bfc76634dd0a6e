//! Pipelines, as psql sees them: permits, what claims look at, and what is kept of messages.

pub(crate) mod flat;
mod messages;
mod permits;
mod racing;

use crate::harness::Db;

/// A database with a resource of two units, and messages `a` to `e` of queue `q`: `b` has a batch key, `c` holds the resource.
async fn database() -> Db {
    let db = Db::new().await;
    db.run("select pgflow.set_capacity('gpu', 2)").await;
    db.run(
        "select pgflow.submit_jobs(array['a', 'b', 'c', 'd', 'e'], array_fill('q'::text, array[5]), array_fill('\"xyz\"'::jsonb, array[5]))",
    )
    .await;
    db.run(
        "select pgflow.keep_messages(array['b', 'c', 'none'], array['k', null, 'k'], array[null, '{\"gpu\": 1}', null]::jsonb[])",
    )
    .await;
    db.check().await;
    db
}

/// Leases these messages to `w`, and returns those that were had.
async fn lease(db: &Db, ids: &str) -> Vec<String> {
    db.rows(&format!("select id from pgflow.lease_messages('w', '{ids}', 60)")).await
}

/// Lets the lease of a job hold units of a resource, by this grant.
async fn hold(db: &Db, resource: &str, job: &str, units: u32, fence: u32) {
    db.run(&format!(
        "select pgflow.hold_permits(array['{resource}'], array['{job}'],
           array[(select token::text from pgflow.jobs where id = '{job}')], array['batch of {job}'], array[{units}], array[{fence}::bigint])"
    ))
    .await;
}

/// Notes the grant of a resource, as a claim does.
async fn grant(db: &Db, capacity: u32, fence: u32) {
    db.run(&format!(
        "select pgflow.note_permits('{{resource}}', '{{gpu}}', array[jsonb_build_object('capacity', {capacity}, 'fence', {fence})])"
    ))
    .await;
}
