//! Hints from this process and from others, and that nothing is left looking for them.

use std::time::Duration;

use pgflow_runtime::backend::{Backend, Wake};
use pgflow_sqlite_tests::{Scratch, chain, ensure, start};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(5);

/// Waits until as many tasks are alive as before.
async fn until_tasks_are(count: usize) {
    let settled = async {
        while Handle::current().metrics().num_alive_tasks() > count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, settled).await.expect("nothing is left running");
}

#[tokio::test]
async fn own_writes_are_told_by_flow_and_those_of_others_as_a_gap() {
    let scratch = Scratch::new();
    let (here, there) = (scratch.open().await, scratch.open().await);
    ensure(&here, &chain("orders", 1)).await;
    let mut wakes = here.wakes();
    let first = timeout(SOON, wakes.next()).await.expect("a hint");
    assert_eq!(first, Wake::Gap, "nobody knows what was written before");
    start(&here, "orders", json!(1)).await;
    let hint = timeout(SOON, wakes.next()).await.expect("a hint");
    assert_eq!(hint, Wake::Flow("orders".into()));
    assert!(timeout(Duration::from_millis(200), wakes.next()).await.is_err(), "no more for it");

    start(&there, "orders", json!(2)).await;
    assert_eq!(timeout(SOON, wakes.next()).await.expect("a hint"), Wake::Gap);
}

#[tokio::test]
async fn nobody_looks_when_nobody_listens() {
    let scratch = Scratch::new();
    let sqlite = scratch.open().await;
    // Connections go back to their pool in tasks of their own.
    until_tasks_are(0).await;
    let before = 0;
    for _ in 0..3 {
        let wakes = (sqlite.wakes(), sqlite.wakes());
        assert_eq!(Handle::current().metrics().num_alive_tasks(), before + 1, "one looks for both");
        drop(wakes);
        until_tasks_are(before).await;
    }
    let _wakes = sqlite.wakes();
    sqlite.close().await.expect("it closes");
    until_tasks_are(before).await;

    let sqlite = scratch.open().await;
    let _wakes = sqlite.wakes();
    drop(sqlite);
    until_tasks_are(before).await;
}
