//! Runs that begin in the application's own transaction.

use pgflow_machine::RunId;
use pgflow_runtime::StartIn;
use pgflow_runtime::backend::{BackendError, NewRun, Parts, Runs, Started, Work};
use pgflow_sqlite_tests::{Scratch, chain, claim, ensure};
use serde_json::json;
use sqlx::{Connection, SqliteConnection};

async fn connect(scratch: &Scratch) -> SqliteConnection {
    let url = format!("sqlite:{}", scratch.file().display());
    SqliteConnection::connect(&url).await.expect("the file is there")
}

fn run(flow: &str) -> NewRun {
    NewRun::new(flow, json!({ "order": 7 }), RunId::new())
}

#[tokio::test]
async fn a_run_exists_if_the_transaction_commits_and_no_sooner() {
    let scratch = Scratch::new();
    let sqlite = scratch.open().await;
    ensure(&sqlite, &chain("orders", 2)).await;
    let mut own = connect(&scratch).await;
    for commits in [false, true] {
        let new = run("orders");
        let mut tx = own.begin_with("begin immediate").await.expect("a transaction");
        let started = tx.start_run(new.clone()).await.expect("it starts");
        assert_eq!(started, Started::Created);
        assert_eq!(tx.start_run(new.clone()).await.expect("again"), Started::Existing);
        assert_eq!(sqlite.run(new.id, Parts::Run).await.expect("it can be asked"), None);
        if commits {
            tx.commit().await.expect("it commits");
        } else {
            tx.rollback().await.expect("it rolls back");
        }
        let found = sqlite.run(new.id, Parts::Run).await.expect("it can be asked");
        assert_eq!(found.is_some(), commits);
        let tasks = sqlite.claim(&claim("orders", 9)).await.expect("a claim").tasks;
        assert_eq!(tasks.len(), usize::from(commits));
    }
    assert_eq!(sqlite.check().await.expect("checked"), Vec::<String>::new());
}

#[tokio::test]
async fn an_unknown_flow_leaves_the_transaction_usable() {
    let scratch = Scratch::new();
    let sqlite = scratch.open().await;
    ensure(&sqlite, &chain("orders", 1)).await;
    let mut own = connect(&scratch).await;
    let mut tx = own.begin_with("begin immediate").await.expect("a transaction");
    let error = tx.start_run(run("order")).await.expect_err("there is none");
    assert!(matches!(error, BackendError::UnknownFlow { .. }), "{error:?}");
    tx.start_run(run("orders")).await.expect("it starts");
    tx.commit().await.expect("it commits");
}
