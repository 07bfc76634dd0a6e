//! Hints from this process and from others, and that nothing is left looking for them.

use std::fs;
use std::time::Duration;

use pgflow_runtime::backend::{Backend, Wake};
use pgflow_sqlite_tests::{Scratch, chain, ensure, start};
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// For a busy machine; a hint that does not come by then never comes.
const SOON: Duration = Duration::from_mins(1);

/// Held by each test: threads are those of the whole process.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Threads that look for what other processes write.
fn threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").expect("threads are listed");
    let names =
        tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.trim_end() == "pgflow-hints").count()
}

/// Waits until so many look.
async fn until_threads_are(count: usize) {
    let settled = async {
        while threads() != count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, settled).await.unwrap_or_else(|_| panic!("{} look, not {count}", threads()));
}

#[tokio::test]
async fn own_writes_are_told_by_flow_and_those_of_others_as_a_gap() {
    let _alone = ALONE.lock().await;
    let scratch = Scratch::new();
    let (here, there) = (scratch.open().await, scratch.open().await);
    ensure(&here, &chain("orders", 1)).await;
    let mut wakes = here.wakes();
    let first = timeout(SOON, wakes.next()).await.expect("a hint");
    assert_eq!(first, Wake::Gap, "nobody knows what was written before");
    start(&here, "orders", json!(1)).await;
    let hint = timeout(SOON, wakes.next()).await.expect("a hint");
    assert_eq!(hint, Wake::queue("orders"));
    assert!(timeout(Duration::from_millis(200), wakes.next()).await.is_err(), "no more for it");

    start(&there, "orders", json!(2)).await;
    assert_eq!(timeout(SOON, wakes.next()).await.expect("a hint"), Wake::Gap);
}

#[tokio::test]
async fn nobody_looks_when_nobody_listens() {
    let _alone = ALONE.lock().await;
    until_threads_are(0).await;
    let scratch = Scratch::new();
    let sqlite = scratch.open().await;
    for _ in 0..3 {
        let wakes = (sqlite.wakes(), sqlite.wakes());
        until_threads_are(1).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(threads(), 1, "one looks for both");
        drop(wakes);
        until_threads_are(0).await;
    }
    let _wakes = sqlite.wakes();
    sqlite.close().await.expect("it closes");
    until_threads_are(0).await;

    let sqlite = scratch.open().await;
    let _wakes = sqlite.wakes();
    drop(sqlite);
    until_threads_are(0).await;
}
