//! The facade `pgwf`: what clients of the published one call, read and are told.

mod by_hand;
mod defects;
mod errors;
mod notifications;
mod open_claims;
mod signatures;
mod status;
mod trace;
mod words;
mod work;

use crate::harness::Db;

/// Leases one job and returns its lease.
async fn lease(db: &Db, need: &str, id: &str) -> String {
    let work = format!("select job_id, lease_id from pgwf.get_work('w', array['{need}'])");
    let row = db.one(&work).await;
    let (job, lease) = row.split_once('|').expect("two columns");
    assert_eq!(job, id);
    lease.to_owned()
}

async fn submit(db: &Db, need: &str, ids: &[&str]) {
    for id in ids {
        db.run(&format!("select pgwf.submit_job('{id}', 'w', '{need}')")).await;
    }
}

async fn status(db: &Db, id: &str) -> String {
    db.one(&format!("select status from pgwf.jobs_with_status where job_id = '{id}'")).await
}

/// Lets a job's lease run out.
async fn lapse(db: &Db, id: &str) {
    let past = "now() - interval '1 second'";
    db.run(&format!("update pgflow.jobs set lease_until = {past}, look_at = {past}, created_at = created_at - interval '1 hour' where id = '{id}'")).await;
    db.run(&format!("update pgflow.job_trace set at = at - interval '1 hour' where job = '{id}'"))
        .await;
}
