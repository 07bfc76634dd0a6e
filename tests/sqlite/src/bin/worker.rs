//! A worker process: `worker batch FILE FLOW` completes what it finds until nothing is open, and prints how many
//! tasks it settled. `worker tx FILE FLOW` also writes to the table `effects` in the transactions of its tasks. `worker hold
//! FILE FLOW` prints an empty line, waits for the run, keeps the write lock for 50 ms per task, and fails if one is taken
//! away from it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::Settled;
use pgflow_runtime::backend::{Backend, ClaimedTask, Definitions, Work};
use pgflow_runtime::sqlite::{Sqlite, SqliteOptions, SqliteTx};
use pgflow_sqlite_tests::{claim, complete};
use tokio::task::JoinSet;

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [mode, file, flow] = &words[..] else { panic!("worker MODE FILE FLOW") };
    let options = SqliteOptions::file(PathBuf::from(file));
    let sqlite = Sqlite::open(&options).await.expect("the file opens");
    sqlite.migrate().await.expect("the schema is there");
    let settled = match &**mode {
        "batch" => batches(&sqlite, flow).await,
        "tx" => transactions(&sqlite, flow).await,
        "hold" => holds(sqlite, flow).await,
        other => panic!("there is no mode `{other}`"),
    };
    println!("{settled}");
}

async fn is_open(sqlite: &Sqlite, flow: &str) -> bool {
    let versions = sqlite.versions(&[flow]).await.expect("versions can be read");
    versions.iter().any(|version| version.open_runs > 0)
}

/// Completes tasks in batches.
async fn batches(sqlite: &Sqlite, flow: &str) -> usize {
    let (claim, mut settled) = (claim(flow, 16), 0);
    while is_open(sqlite, flow).await {
        let mut tasks = sqlite.claim(&claim).await.expect("a claim").tasks;
        while !tasks.is_empty() {
            let work = sqlite.settle(&complete(tasks), Some(&claim)).await.expect("a settle");
            assert!(work.settled.iter().all(|outcome| *outcome == Settled::Applied));
            settled += work.settled.len();
            tasks = work.claimed.tasks;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    settled
}

/// Runs tasks one by one, each with an effect in its own transaction.
async fn transactions(sqlite: &Sqlite, flow: &str) -> usize {
    let (claim, mut settled) = (claim(flow, 1), 0);
    while is_open(sqlite, flow).await {
        sqlite.sweep().await.expect("a sweep");
        for task in sqlite.claim(&claim).await.expect("a claim").tasks {
            let Some(mut tx) =
                sqlite.begin(&task.lease.clone().into()).await.expect("a transaction")
            else {
                continue;
            };
            let effect = sqlx::query("insert into effects (n) values (?)");
            let effect = effect.bind(task.lease.task.index);
            effect
                .execute(tx.downcast_mut().map(SqliteTx::connection).expect("it is SQLite"))
                .await
                .expect("an effect");
            let settle = complete(vec![task]).remove(0);
            let outcome = sqlite.commit(tx, &settle).await.expect("a commit");
            settled += usize::from(outcome == Settled::Applied);
        }
    }
    settled
}

/// Runs eight tasks at a time, each with the lock for a while: as soon as one lets go of it, the next asks.
async fn holds(sqlite: Sqlite, flow: &str) -> usize {
    let (sqlite, claim, mut settled) = (Arc::new(sqlite), claim(flow, 8), 0);
    println!();
    while !is_open(&sqlite, flow).await {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    while is_open(&sqlite, flow).await {
        sqlite.sweep().await.expect("a sweep");
        let tasks = sqlite.claim(&claim).await.expect("a claim").tasks;
        let mut held = JoinSet::new();
        for task in tasks {
            held.spawn(hold(Arc::clone(&sqlite), task));
        }
        settled += held.join_all().await.len();
    }
    settled
}

async fn hold(sqlite: Arc<Sqlite>, task: ClaimedTask) {
    let tx = sqlite.begin(&task.lease.clone().into()).await.expect("a transaction");
    let tx = tx.expect("the task was taken away while this process waited for the lock");
    tokio::time::sleep(Duration::from_millis(50)).await;
    let settle = complete(vec![task]).remove(0);
    assert_eq!(sqlite.commit(tx, &settle).await.expect("a commit"), Settled::Applied);
}
