//! Steps with a transaction of their own.

use std::time::Duration;

use pgflow_machine::{Settle, Settled, Verdict, WorkerId};
use pgflow_mysql_tests::{chain, claim, ensure, start};
use pgflow_runtime::backend::{Backend, BackendError, Runs, Work};
use pgflow_runtime::mysql::{MySql, MySqlOptions, MySqlTx};
use pgflow_test_support::MariaDbDatabase;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, MySqlConnection};

async fn open(database: &MariaDbDatabase) -> MySql {
    let options: MySqlOptions = database.url().parse().expect("a URL");
    let mysql = MySql::open(&options.lock_wait(Duration::from_secs(1))).await;
    let mysql = mysql.expect("it can be used");
    mysql.migrate().await.expect("it gets its schema");
    ensure(&mysql, &chain("orders", 1)).await;
    mysql
}

/// What a step sets in its session is not there when its output is recorded, nor when it is looked for.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_s_own_settings_are_not_ours() {
    let database = MariaDbDatabase::new().await;
    let mysql = open(&database).await;
    let run = start(&mysql, "orders", json!(1)).await;
    let lease = claim(&mysql, "orders", 1, WorkerId::new()).await.tasks.remove(0).lease;
    let mut tx = mysql.begin(&lease.clone().into()).await.expect("begun").expect("it holds");
    let step: &mut MySqlTx = tx.downcast_mut().expect("it is of MySQL");
    for set in ["set names latin1", "set sql_mode = 'ANSI_QUOTES'", "set sql_select_limit = 0"] {
        step.connection().execute(set).await.expect("it may");
    }
    let output = json!("zażółć gęślą jaźń 🎉");
    let verdict = Verdict::Completed(output.clone());
    let settled = mysql.commit(tx, &Settle { lease: lease.into(), verdict }).await;
    assert_eq!(settled.expect("recorded"), Settled::Applied);
    let outputs: Vec<Value> = mysql.outputs_within(run, "s0", 0, 1000).await.expect("it is there");
    assert_eq!(outputs, [output]);
}

/// A lock that another process keeps is nothing that the step did.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_not_blamed_for_the_locks_of_others() {
    let database = MariaDbDatabase::new().await;
    let mysql = open(&database).await;
    let run = start(&mysql, "orders", json!(1)).await;
    let lease = claim(&mysql, "orders", 1, WorkerId::new()).await.tasks.remove(0).lease;
    let settle = Settle { lease: lease.clone().into(), verdict: Verdict::Completed(json!(1)) };
    let tx = mysql.begin(&lease.clone().into()).await.expect("begun").expect("it holds");

    let mut other = MySqlConnection::connect(&database.url()).await.expect("the server is there");
    let mut frozen = other.begin().await.expect("a transaction");
    let lock = sqlx::query("select 1 from pgflow_runs where id = ? for update").bind(run.0);
    frozen.execute(lock).await.expect("it is free");
    let error = mysql.commit(tx, &settle).await.expect_err("the run is locked");
    assert!(matches!(error, BackendError::Unavailable(_)), "{error:?}");
    frozen.rollback().await.expect("it ends");

    let tx = mysql.begin(&lease.into()).await.expect("begun").expect("it still holds");
    assert_eq!(mysql.commit(tx, &settle).await.expect("recorded"), Settled::Applied);
}
