//! Transactions that meet.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use pgflow_machine::{RunStatus, Settle, Settled, Verdict, WorkerId};
use pgflow_mysql_tests::{Cut, Proxy, chain, claim, complete, ensure, map, start};
use pgflow_runtime::backend::{Backend, Cancelled, Parts, Runs, Work};
use pgflow_runtime::mysql::MySql;
use pgflow_test_support::{MariaDb, MariaDbDatabase};
use serde_json::json;
use sqlx::{Connection, Executor, MySqlConnection};

async fn open(database: &MariaDbDatabase) -> Arc<MySql> {
    let mysql = MySql::connect(&database.url()).await.expect("it can be used");
    mysql.migrate().await.expect("it gets its schema");
    Arc::new(mysql)
}

/// Six workers, each with connections of its own, on one wide map and many chains.
#[tokio::test(flavor = "multi_thread")]
async fn workers_that_meet_lose_and_repeat_nothing() {
    let database = MariaDbDatabase::new().await;
    let first = open(&database).await;
    ensure(&*first, &map("wide")).await;
    ensure(&*first, &chain("long", 3)).await;
    let wide = start(&*first, "wide", json!((0..300).collect::<Vec<_>>())).await;
    let mut runs = vec![wide];
    for n in 0..30 {
        runs.push(start(&*first, "long", json!(n)).await);
    }
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let (mysql, runs) = (open(&database).await, runs.clone());
        workers.spawn(async move { work(&mysql, &runs).await });
    }
    let mut done = HashSet::new();
    for leases in workers.join_all().await {
        for lease in leases {
            assert!(done.insert(lease.clone()), "{lease:?} was handed out twice");
        }
    }
    assert_eq!(done.len(), 300 + 30 * 3);
    for run in runs {
        let record =
            first.run(run, Parts::Run).await.expect("it can be read").expect("it is there");
        assert_eq!(record.status, RunStatus::Completed);
    }
    assert_eq!(first.check().await.expect("the checker runs"), [] as [String; 0]);
}

/// Until all runs have ended.
async fn work(mysql: &MySql, runs: &[pgflow_machine::RunId]) -> Vec<pgflow_machine::TaskLease> {
    let (worker, mut done) = (WorkerId::new(), Vec::new());
    loop {
        let mut is_idle = true;
        for flow in ["wide", "long"] {
            let tasks = claim(mysql, flow, 7, worker).await.tasks;
            let leases: Vec<_> = tasks.into_iter().map(|task| task.lease).collect();
            if leases.is_empty() {
                continue;
            }
            is_idle = false;
            let settled = complete(mysql, &leases, &json!(1)).await;
            assert!(settled.iter().all(|settled| *settled == Settled::Applied), "{settled:?}");
            done.extend(leases);
        }
        if is_idle {
            let summaries = mysql.statuses(runs).await.expect("they can be read");
            if summaries.iter().all(|run| run.status == RunStatus::Completed) {
                return done;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}

/// Whoever has a task's row locked keeps nobody from the others.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_passes_over_what_is_locked() {
    let database = MariaDbDatabase::new().await;
    let mysql = open(&database).await;
    ensure(&*mysql, &chain("orders", 1)).await;
    let locked = start(&*mysql, "orders", json!(1)).await;
    let free = start(&*mysql, "orders", json!(2)).await;
    let mut other = MySqlConnection::connect(&database.url()).await.expect("the server is there");
    let mut transaction = other.begin().await.expect("a transaction");
    let lock = sqlx::query("select 1 from pgflow_tasks where run = ? for update").bind(locked.0);
    transaction.execute(lock).await.expect("it is free");
    let taken = claim(&*mysql, "orders", 10, WorkerId::new()).await.tasks;
    assert_eq!(taken.iter().map(|task| task.lease.task.run).collect::<Vec<_>>(), [free]);
    transaction.rollback().await.expect("it ends");
    let taken = claim(&*mysql, "orders", 10, WorkerId::new()).await.tasks;
    assert_eq!(taken.iter().map(|task| task.lease.task.run).collect::<Vec<_>>(), [locked]);
}

/// A process that is frozen in the middle of a transition keeps its row locks until the server has had enough.
#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_transition_is_undone_by_the_server() {
    let database = MariaDbDatabase::new().await;
    let mysql = open(&database).await;
    ensure(&*mysql, &chain("orders", 1)).await;
    let run = start(&*mysql, "orders", json!(1)).await;
    let proxy = Proxy::start(MariaDb::shared().await.port(), Cut::FreezeAtCommit).await;
    let url = format!("mysql://root@127.0.0.1:{}/{}", proxy.port(), database.name());
    let frozen = MySql::connect(&url).await.expect("nothing was committed yet");
    let lease = claim(&*mysql, "orders", 1, WorkerId::new()).await.tasks.remove(0).lease;
    let settling = {
        let lease = lease.clone();
        tokio::spawn(async move { complete(&frozen, &[lease], &json!("frozen")).await })
    };
    let mut other = MySqlConnection::connect(&database.url()).await.expect("the server is there");
    while other.execute("select 1 from pgflow_runs for update nowait").await.is_ok() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let mut settled = Err("it was not tried".to_owned());
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_mins(2);
    while settled.is_err() && tokio::time::Instant::now() < deadline {
        let verdict = Verdict::Completed(json!("alive"));
        let settle = Settle { lease: lease.clone().into(), verdict };
        let work = mysql.settle(&[settle], None).await;
        settled = work.map(|work| work.settled).map_err(|error| error.to_string());
    }
    assert_eq!(settled, Ok(vec![Settled::Applied]));
    settling.abort();
    let record = mysql.run(run, Parts::Steps).await.expect("it can be read").expect("it is there");
    assert_eq!(record.status, RunStatus::Completed);
}

/// The server ends the transition, which has done less than the application's transaction that it met. It is run again as a
/// whole, and counted.
#[tokio::test]
async fn a_transition_that_loses_a_deadlock_is_run_again() {
    let reruns = Reruns::default();
    let _counting = metrics::set_default_local_recorder(&reruns);
    let database = MariaDbDatabase::new().await;
    let mysql = open(&database).await;
    ensure(&*mysql, &chain("long", 1)).await;
    let run = start(&*mysql, "long", json!(1)).await;

    let mut other = MySqlConnection::connect(&database.url()).await.expect("a session");
    other.execute("create table weight (n int primary key)").await.expect("a table");
    other.execute("begin").await.expect("a transaction");
    for n in 0..50 {
        let insert = sqlx::query("insert into weight values (?)").bind(n);
        insert.execute(&mut other).await.expect("weight");
    }
    other.execute("select * from pgflow_tasks for update").await.expect("its task");
    let meet = async {
        // Until the transition has the run, and waits for the task.
        let mut look = MySqlConnection::connect(&database.url()).await.expect("a session");
        let waits = format!(
            "select count(*) from information_schema.innodb_trx t join information_schema.processlist p
                 on p.id = t.trx_mysql_thread_id
              where t.trx_state = 'LOCK WAIT' and p.db = '{}'",
            database.name()
        );
        while sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(waits.as_str()))
            .fetch_one(&mut look)
            .await
            .expect("a count")
            == 0
        {
            // InnoDB shows again what it has shown to whoever asks within a tenth of a second.
            tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        }
        other.execute("select * from pgflow_runs for update").await.expect("its run: it wins");
        other.execute("commit").await.expect("it ends");
    };
    let (cancelled, ()) = tokio::join!(mysql.cancel(run, None), meet);
    assert_eq!(cancelled.expect("it is run again"), Cancelled::Cancelled);
    assert!(reruns.count() >= 1, "nothing was run again");
    assert_eq!(mysql.check().await.expect("the checker runs"), [] as [String; 0]);
}

/// What `pgflow_mysql_reruns_total` counts.
#[derive(Default)]
struct Reruns(Arc<AtomicU64>);

impl Reruns {
    fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Recorder for Reruns {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        match key.name() {
            "pgflow_mysql_reruns_total" => Counter::from_arc(Arc::clone(&self.0)),
            _ => Counter::noop(),
        }
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}
