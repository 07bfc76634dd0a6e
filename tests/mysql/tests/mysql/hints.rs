//! Hints of this process and of others.

use std::time::Duration;

use pgflow_mysql_tests::{chain, ensure, start};
use pgflow_runtime::backend::{Backend, Wake};
use pgflow_runtime::mysql::MySql;
use pgflow_test_support::MariaDbDatabase;
use serde_json::json;
use tokio::time::timeout;

/// For a busy machine; a hint that does not come by then never comes.
const SOON: Duration = Duration::from_mins(1);

#[tokio::test(flavor = "multi_thread")]
async fn own_writes_are_told_by_flow_and_those_of_others_as_a_gap() {
    let database = MariaDbDatabase::new().await;
    let here = MySql::connect(&database.url()).await.expect("it can be used");
    let there = MySql::connect(&database.url()).await.expect("it can be used");
    here.migrate().await.expect("it gets its schema");
    ensure(&here, &chain("orders", 1)).await;
    let mut wakes = here.wakes();
    let first = timeout(SOON, wakes.next()).await.expect("a hint");
    assert_eq!(first, Wake::Gap, "nobody knows what was written before");
    start(&here, "orders", json!(1)).await;
    let hint = timeout(SOON, wakes.next()).await.expect("a hint");
    assert_eq!(hint, Wake::queue("orders"));
    assert!(timeout(Duration::from_millis(300), wakes.next()).await.is_err(), "no more for it");

    start(&there, "orders", json!(2)).await;
    assert_eq!(timeout(SOON, wakes.next()).await.expect("a hint"), Wake::Gap);
}
