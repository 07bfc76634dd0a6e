//! Jobs: every transition, what is refused, and what happens when several sessions do it at once.

mod bad_input;
mod cancel;
mod claim;
mod concern;
mod edges;
mod flat;
mod hand_over;
mod key_holders;
mod keys;
mod lock_order;
mod operators;
mod races;
mod reading;
mod rings;
mod runs;
mod settle;
mod storm;
mod submit;
mod sweep;
mod trace;
mod trip;

use crate::harness::{Db, Session};

/// Live jobs by place, as `id:need:state` with counters that are not 0: waits, attempts, failures, lapses, streak.
async fn live(db: &Db) -> Vec<String> {
    db.rows(
        "select format('%s:%s:%s', id, need, state) || concat(' w' || nullif(waits, 0), ' a' || nullif(attempts, 0),
                ' f' || nullif(failures, 0), ' l' || nullif(lapses, 0), ' s' || nullif(streak, 0))
         from pgflow.jobs order by seq",
    )
    .await
}

/// Archived jobs in the order of their submission, as `id:outcome`.
async fn archive(db: &Db) -> Vec<String> {
    db.rows("select format('%s:%s', id, outcome) from pgflow.job_archive order by seq").await
}

/// Submits jobs of one need.
async fn submit(db: &Db, need: &str, ids: &[&str]) {
    let (ids, needs) = (list(ids), list(&vec![need; ids.len()]));
    let outcomes =
        db.rows(&format!("select outcome from pgflow.submit_jobs({ids}, {needs})")).await;
    assert!(outcomes.iter().all(|outcome| outcome == "submitted"), "{outcomes:?}");
}

/// Submits a job with named arguments.
async fn submit_with(db: &Db, id: &str, need: &str, arguments: &str) {
    let call = format!("pgflow.submit_jobs(array['{id}'], array['{need}'], {arguments})");
    assert_eq!(db.one(&format!("select outcome from {call}")).await, "submitted");
}

/// Submits a job that waits for others.
async fn submit_after(db: &Db, id: &str, dependencies: &[&str], policy: &str) {
    let edges = format!(
        "edge_jobs => {}, dependencies => {}, policies => {}",
        format_args!("array_fill(1, array[{}])", dependencies.len()),
        list(dependencies),
        list(&vec![policy; dependencies.len()])
    );
    submit_with(db, id, "join", &edges).await;
}

/// The ids that a claim of a minute gets, in its order.
async fn claim(db: &Db, needs: &[&str], quantity: u32) -> Vec<String> {
    db.rows(&format!("select id from pgflow.claim_jobs('w', {}, 60, {quantity})", list(needs)))
        .await
}

/// Calls a function for one leased job with its token, and returns the outcome.
async fn settle(db: &Db, function: &str, id: &str, more: &str) -> String {
    let token = format!("array[(select token::text from pgflow.jobs where id = '{id}')]");
    db.one(&format!("select outcome from pgflow.{function}(array['{id}'], {token}{more})")).await
}

async fn finish(db: &Db, id: &str) {
    assert_eq!(settle(db, "finish_jobs", id, "").await, "applied", "{id}");
}

/// Claims a job's need and finishes what it got, which has to be this job.
async fn complete(db: &Db, need: &str, id: &str) {
    assert_eq!(claim(db, &[need], 1).await, [id]);
    finish(db, id).await;
}

/// Lets the leases of jobs run out.
async fn lapse(db: &Db, ids: &[&str]) {
    let past = "now() - interval '1 second'";
    db.run(&format!(
        "update pgflow.jobs set created_at = created_at - interval '1 hour', lease_until = {past}, look_at = {past}
         where id = any ({})",
        list(ids)
    ))
    .await;
    db.run(&format!(
        "update pgflow.job_trace set at = at - interval '1 hour' where job = any ({})",
        list(ids)
    ))
    .await;
}

/// An array of texts.
fn list(items: &[&str]) -> String {
    let items: Vec<String> = items.iter().map(|item| crate::harness::lit(item)).collect();
    format!("array[{}]::text[]", items.join(", "))
}

/// No transaction was the victim of a deadlock.
async fn assert_no_deadlocks(session: &mut Session) {
    let count = "select deadlocks from pg_stat_database where datname = current_database()";
    assert_eq!(session.one(count).await, "0");
}
