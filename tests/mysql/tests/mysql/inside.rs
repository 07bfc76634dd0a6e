//! Transactions of the application's, at the isolation level that servers have as a default.

use pgflow_machine::RunId;
use pgflow_machine::job::{JobId, NewJob, Submitted};
use pgflow_machine::permit::Message;
use pgflow_mysql_tests::{chain, claim, complete, ensure, start, text};
use pgflow_runtime::backend::{Backend, NewRun, Started};
use pgflow_runtime::mysql::{MySql, push_in, start_in, submit_in};
use pgflow_test_support::{MariaDb, MariaDbDatabase, MariaDbOptions};
use serde_json::json;
use sqlx::{Connection, Executor, MySql as Driver, MySqlConnection, Transaction};

async fn migrated(database: &MariaDbDatabase) -> MySql {
    let mysql = MySql::connect(&database.url()).await.expect("it can be used");
    mysql.migrate().await.expect("it gets its schema");
    ensure(&mysql, &chain("orders", 2)).await;
    mysql
}

/// A session of the application's, which waits for no lock.
async fn application(database: &MariaDbDatabase) -> MySqlConnection {
    let mut own = MySqlConnection::connect(&database.url()).await.expect("the server is there");
    own.execute("set session transaction isolation level repeatable read")
        .await
        .expect("the default");
    own.execute("set innodb_lock_wait_timeout = 1").await.expect("patience");
    own
}

/// A transaction that has read something: from here on it sees what was committed by now.
async fn begun(own: &mut MySqlConnection) -> Transaction<'_, Driver> {
    let mut tx = own.begin().await.expect("a transaction");
    tx.execute("select count(*) from pgflow_runs").await.expect("a look");
    tx
}

fn keyed() -> NewRun {
    NewRun::new("orders", 1, RunId::from_key("orders", "k"))
}

fn job() -> NewJob {
    NewJob::new("j-1".parse::<JobId>().expect("a name"), "work", 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_made_since_the_transaction_began_is_found() {
    let database = MariaDbDatabase::new().await;
    let mysql = migrated(&database).await;
    let (mut early, mut late) = (application(&database).await, application(&database).await);
    let mut tx = begun(&mut late).await;
    let mut first = early.begin().await.expect("a transaction");
    let message = Message::from(NewJob::new("m-1".parse().expect("a name"), "mail", 1));
    assert_eq!(start_in(&mut first, keyed()).await.expect("it starts"), Started::Created);
    assert_eq!(submit_in(&mut first, &job(), "me").await.expect("asked"), Ok(Submitted::Submitted));
    assert_eq!(push_in(&mut first, &message, "me").await.expect("asked"), Ok(Submitted::Submitted));
    first.commit().await.expect("it commits");

    let started = start_in(&mut tx, keyed()).await.unwrap_or_else(|why| panic!("{}", text(&why)));
    assert_eq!(started, Started::Existing);
    assert_eq!(submit_in(&mut tx, &job(), "me").await.expect("asked"), Ok(Submitted::Exists));
    assert_eq!(push_in(&mut tx, &message, "me").await.expect("asked"), Ok(Submitted::Exists));
    let other = start_in(&mut tx, NewRun::new("orders", 2, RunId::new())).await.expect("it starts");
    assert_eq!(other, Started::Created, "the transaction is as good as before");
    tx.commit().await.expect("it commits");
    assert_eq!(mysql.check().await.expect("checked"), Vec::<String>::new());
}

/// Neither waits for the other, or both for each other.
#[tokio::test(flavor = "multi_thread")]
async fn transactions_that_start_runs_at_once_do_not_meet() {
    let database = MariaDbDatabase::new().await;
    let mysql = migrated(&database).await;
    let (mut one, mut other) = (application(&database).await, application(&database).await);
    let (mut one, mut other) = (begun(&mut one).await, begun(&mut other).await);
    for _ in 0..2 {
        for tx in [&mut one, &mut other] {
            let started = start_in(tx, NewRun::new("orders", 1, RunId::new())).await;
            assert_eq!(started.unwrap_or_else(|why| panic!("{}", text(&why))), Started::Created);
        }
    }
    one.commit().await.expect("it commits");
    other.commit().await.expect("it commits");
    assert_eq!(mysql.check().await.expect("checked"), Vec::<String>::new());
}

/// Payloads of a server with small packets: what is too large is said to be, and what is not is stored, however much of it comes at once.
#[tokio::test(flavor = "multi_thread")]
async fn small_packets_take_what_they_promise() {
    let extra = vec![("max-allowed-packet".to_owned(), "1048576".to_owned())];
    let options = MariaDbOptions { extra, ..Default::default() };
    let server = MariaDb::start(&options).expect("the server starts");
    let database = MariaDbDatabase::new_on(&server);
    let mysql = migrated(&database).await;
    let most = mysql.limits().await.expect("it has limits").max_bytes;

    let mut own = application(&database).await;
    let mut tx = own.begin().await.expect("a transaction");
    let large = json!("x".repeat(most));
    let submitted = submit_in(&mut tx, &NewJob { payload: large.clone(), ..job() }, "me").await;
    assert!(submitted.expect("asked").is_err(), "it is too large");
    let message = Message::from(NewJob { payload: large, ..job() });
    let pushed = push_in(&mut tx, &message, "me").await;
    assert!(pushed.expect("asked").is_err(), "it is too large");
    tx.rollback().await.expect("it ends");

    // Each quote is four bytes in the statement.
    let output = json!("\"".repeat((most - 10) / 2));
    for _ in 0..5 {
        start(&mysql, "orders", json!(1)).await;
    }
    let tasks = claim(&mysql, "orders", 5, pgflow_machine::WorkerId::new()).await.tasks;
    let leases: Vec<_> = tasks.into_iter().map(|task| task.lease).collect();
    assert_eq!(leases.len(), 5);
    let settled = complete(&mysql, &leases, &output).await;
    assert!(settled.iter().all(|settled| *settled == pgflow_machine::Settled::Applied));
    assert_eq!(mysql.check().await.expect("checked"), Vec::<String>::new());
}
