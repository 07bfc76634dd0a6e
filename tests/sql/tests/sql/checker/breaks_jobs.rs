//! Jobs, their edges, keys, archive and trace.

use super::bench::{Break, each_is_reported_on};
use crate::harness::Db;

/// A job of each kind, live and over.
pub(super) async fn database() -> Db {
    let db = Db::new().await;
    let lease = "select pgflow.claim_jobs('w', array['n'], 600, 1)";
    let lapse = "update pgflow.jobs set lease_until = created_at, look_at = created_at where id = 'ID'; select pgflow.sweep_jobs()";
    for script in [
        "select pgflow.set_job_settings(crash_threshold => 1)",
        "select pgflow.submit_jobs(array['crashed'], array['n'], max_attempts => array[1])",
        lease,
        &lapse.replace("ID", "crashed"),
        "select pgflow.submit_jobs(array['concern'], array['n'])",
        lease,
        &lapse.replace("ID", "concern"),
        lease,
        &lapse.replace("ID", "concern"),
        "select pgflow.submit_jobs(array['done'], array['n'], array['{}']::jsonb[])",
        "select pgflow.finish_jobs(array_agg(id), array_agg(token), array['1'::jsonb], 'w') from pgflow.claim_jobs('w', array['n'], 600, 1)",
        "select pgflow.submit_jobs(array['failed'], array['n'], max_attempts => array[1])",
        "select pgflow.fail_jobs(array_agg(id), array_agg(token), array['boom'], worker => 'w') from pgflow.claim_jobs('w', array['n'], 600, 1)",
        "select pgflow.submit_jobs(array['expired'], array['n'], lifetimes => array[0]); select pgflow.sweep_jobs()",
        "select pgflow.submit_jobs(array['leased', 'parked'], array['n', 'n'], keys => array['k', 'k'])",
        lease,
        "select pgflow.submit_jobs(array['retried'], array['n'])",
        "select pgflow.fail_jobs(array_agg(id), array_agg(token), array['boom'], array[3600000]) from pgflow.claim_jobs('w', array['n'], 600, 1)",
        "select pgflow.submit_jobs(array['ready', 'head', 'behind'], array['m', 'm', 'm'], keys => array[null, 'h', 'h'])",
        "select pgflow.submit_jobs(array['waiting', 'cancelled'], array['o', 'o'], edge_jobs => array[1, 1, 2], dependencies => array['leased', 'ready', 'ready'])",
        "select pgflow.cancel_jobs(array['cancelled'], 'why', 'me')",
        "select pgflow.submit_jobs(array['unwanted'], array['o']); select pgwf.cancel_job('unwanted', 'me', 'why')",
        "select pgflow.submit_jobs(array['late'], array['o'], lifetimes => array[0]); select pgflow.claim_jobs('w', array['o'], 60, 1)",
        "select pgflow.create_flow('f'); select pgflow.add_step('f', 'a'); select pgflow.start_flow('f', '{}')",
        "select pgflow.submit_jobs(array['after'], array['o'], edge_jobs => array[1], edge_kinds => array['run'],
           dependencies => array(select run_id::text from pgflow.runs))",
    ] {
        db.run(script).await;
    }
    db.check().await;
    db
}

pub(super) const BREAKS: &[Break] = &[
    ("job_waits", "delete from pgflow.job_edges where place = 1"),
    ("job_wake", "insert into pgflow.job_wakes (kind, dependency, outcome) values ('job', 'done', 'failed')"),
    ("job_wake", "insert into pgflow.job_wakes (kind, dependency, outcome) values ('job', 'leased', 'done')"),
    ("job_wake", "insert into pgflow.job_wakes (kind, dependency, outcome) values ('run', 'gone', 'over')"),
    ("job_twice", "insert into pgflow.job_archive (seq, created_at, priority, attempts, failures, lapses, streak, outcome, id, need, payload)
        select seq, created_at, 0, 0, 0, 0, 0, 'done', id, need, payload from pgflow.jobs where id = 'ready'"),
    ("job_place", "update pgflow.jobs set seq = (select seq from pgflow.jobs where id = 'ready') where id = 'head'"),
    ("job_state", "update pgflow.jobs set state = 'ready', wake_at = null where id = 'concern'"),
    ("job_concern", "select pgflow.submit_jobs(array['stuck'], array['o'], edge_jobs => array[1], dependencies => array['concern'])"),
    ("job_counters", "update pgflow.jobs set failures = 2 where id = 'retried'"),
    ("job_times", "update pgflow.jobs set look_at = lease_until + interval '1 second' where id = 'leased'"),
    ("job_trace", "update pgflow.jobs set need = 'other' where id = 'ready'"),
    ("job_edge", "update pgflow.job_edges set dependency = 'nobody' where place = 1"),
    ("job_edge", "update pgflow.job_edges set waiter = 'nobody' where waiter = 'waiting' and place = 1"),
    ("job_edge", "update pgflow.runs set awaited = null"),
    // An index that missed an insert.
    ("job_ready", "update pg_index set indisready = false where indexrelid = 'pgflow.jobs_ready'::regclass;
        select pgflow.submit_jobs(array['unseen'], array['m']);
        update pg_index set indisready = true where indexrelid = 'pgflow.jobs_ready'::regclass"),
    ("job_ring", "update pgflow.job_edges set dependency = 'waiting' where place = 1"),
    ("job_key", "update pgflow.job_keys set jobs = 3 where key = 'k'"),
    ("job_key", "delete from pgflow.job_keys where key = 'k'"),
    ("job_key", "insert into pgflow.job_key_notes (key, jobs) values ('k', 1)"),
    ("job_head", "update pgflow.jobs set state = 'ready' where id = 'parked'"),
    ("job_head", "update pgflow.jobs set state = 'parked' where id = 'head'"),
    ("job_head", "update pgflow.jobs set priority = 9 where id = 'behind'"),
    ("job_holder", "update pgflow.job_keys set holder = 'parked' where key = 'k'"),
    ("job_holder", "update pgflow.job_keys set holder = 'nobody' where key = 'h'"),
    ("archived_job", "update pgflow.job_archive set error = null where id = 'failed'"),
    ("archived_job_times", "update pgflow.job_archive set created_at = archived_at + interval '1 second' where id = 'done'"),
    ("archived_job_trace", "update pgflow.job_archive set outcome = 'failed', error = 'x', output = null where id = 'done'"),
    ("job_lost", "delete from pgflow.jobs where id = 'ready'"),
    ("job_settings", "delete from pgflow.job_settings"),
    ("job_trace_entry", "update pgflow.job_trace set kind = 'nonsense'"),
];

/// A long chain is looked at once, and not from each of its jobs.
#[tokio::test]
async fn long_chains_are_checked() {
    let db = Db::new().await;
    db.run(
        "insert into pgflow.jobs (id, need, payload, waits, state)
           select 'j' || i, 'n', '1', (i > 1)::int, case when i > 1 then 'waiting' else 'ready' end from generate_series(1, 50000) i;
         insert into pgflow.job_edges (waiter, place, dependency) select 'j' || i, 1, 'j' || i - 1 from generate_series(2, 50000) i",
    )
    .await;
    assert_eq!(db.one("select pgflow._jobs_in_rings()").await, "{}");
    // Who waits for a ring is not in it, nor what a ring waits for.
    db.run("insert into pgflow.job_edges values ('j20001', 2, 'job', 'j20003', 'release')").await;
    assert_eq!(
        db.rows("select unnest(pgflow._jobs_in_rings()) order by 1").await,
        ["j20001", "j20002", "j20003"]
    );
}

#[tokio::test]
async fn broken_jobs_are_reported() {
    each_is_reported_on(&database().await, BREAKS).await;
}
