//! A PgBouncer that ends when it should.

use std::path::PathBuf;

use pgflow_test_support::{PgBouncer, PoolMode, TestDb};

use crate::victim::{
    ends_with_its_value, kill_while_it_runs, kill_while_it_starts, stay_if_victim,
};

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_with_its_value() {
    let db = TestDb::empty().await;
    let bouncer = PgBouncer::start(&db, PoolMode::Transaction);
    let dir = bouncer.dir().to_owned();
    ends_with_its_value(bouncer, &dir);
}

/// With its database, which goes too.
async fn stay_if_victim_has_one() {
    let db = TestDb::empty().await;
    let mut bouncer = None;
    let start = || PgBouncer::start(&db, PoolMode::Session);
    stay_if_victim(|| PathBuf::from(bouncer.insert(start()).dir()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_test_process_leaves_none_behind() {
    stay_if_victim_has_one().await;
    kill_while_it_runs("pgbouncer::a_killed_test_process_leaves_none_behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_process_killed_while_it_starts_one_leaves_none_behind() {
    stay_if_victim_has_one().await;
    kill_while_it_starts("pgbouncer::a_test_process_killed_while_it_starts_one_leaves_none_behind");
}
