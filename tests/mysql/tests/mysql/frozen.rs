//! A server that is there and says nothing.

use std::process::Command;
use std::time::Duration;

use pgflow_machine::{RunId, Settle, Verdict, WorkerId};
use pgflow_mysql_tests::{chain, claim, ensure, start, text};
use pgflow_runtime::backend::{Backend, BackendError, Cancelled, Parts, Runs, Upkeep, Work};
use pgflow_runtime::mysql::{MySql, MySqlOptions};
use pgflow_runtime::store::{Access, Store};
use pgflow_test_support::{MariaDb, MariaDbDatabase, MariaDbOptions, wait_until};
use serde_json::json;
use tokio::time::timeout;

/// How long the server may take to answer: no part of any call takes that long while it works, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(5);

/// Longer than any call may take: what it does first may have taken all of its time already.
const LONG: Duration = Duration::from_mins(1);

fn signal(server: &MariaDb, name: &str) {
    let pid = server.pid().expect("it runs").to_string();
    let status = Command::new("kill").args([name, &pid]).status();
    assert!(status.expect("kill is there").success(), "{name}");
}

/// Stops it. Its threads go on until each of them has heard of that.
fn freeze(server: &MariaDb) {
    signal(server, "-STOP");
    let threads = format!("/proc/{}/task", server.pid().expect("it runs"));
    let is_stopped = |stat: String| stat.rsplit(')').next().is_some_and(|it| it.starts_with(" T"));
    wait_until("all threads of the server are stopped", || {
        let mut threads = std::fs::read_dir(&threads).expect("its threads").flatten();
        threads
            .all(|thread| std::fs::read_to_string(thread.path().join("stat")).is_ok_and(is_stopped))
    });
}

/// Says which call did not end, or ended otherwise.
async fn gives_up<T>(what: &str, call: impl Future<Output = Result<T, BackendError>>) {
    let ended = timeout(LONG, call).await;
    let ended = ended.unwrap_or_else(|_| panic!("{what} waits for ever"));
    let Err(error) = ended else { panic!("{what} has an answer") };
    assert!(error.is_no_answer(), "{what}: {}", text(&error));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_gets_no_answer_is_told_so() {
    let server = MariaDb::start(&MariaDbOptions::default()).expect("the server starts");
    let database = MariaDbDatabase::new_on(&server);
    let options: MySqlOptions = database.url().parse().expect("a URL");
    let mysql = MySql::open(&options.answer_within(PATIENCE).connections(8)).await;
    let mysql = mysql.expect("it can be used");
    Backend::migrate(&mysql).await.expect("it gets its schema");
    ensure(&mysql, &chain("orders", 1)).await;
    for _ in 0..3 {
        start(&mysql, "orders", json!(1)).await;
    }
    let claimed = claim(&mysql, "orders", 3, WorkerId::new()).await.tasks;
    let [first, second, third] = [0, 1, 2].map(|at| claimed[at].lease.clone());
    // Transactions that the server has begun.
    let step = Work::begin(&mysql, &first.clone().into()).await.expect("begun").expect("it holds");
    let write = Store::begin(&mysql, Access::Write).await.expect("begun");
    let undone = Store::begin(&mysql, Access::Write).await.expect("begun");
    let settle = Settle { lease: first.clone().into(), verdict: Verdict::Completed(json!(1)) };

    freeze(&server);
    tokio::join!(
        gives_up("the commit of a step", Work::commit(&mysql, step, &settle)),
        gives_up("a commit", Store::commit(&mysql, write)),
        gives_up("a rollback", mysql.undo(undone)),
        gives_up("the beginning of a step", async {
            let lease = second.clone().into();
            Work::begin(&mysql, &lease).await
        }),
        gives_up("a read", mysql.run(first.task.run, Parts::Run)),
        gives_up("a transition", mysql.cancel(third.task.run, None)),
        gives_up("the time", mysql.now()),
        gives_up("a look at the server", mysql.checkup()),
        gives_up("a check", Upkeep::check(&mysql)),
    );
    signal(&server, "-CONT");

    let goes_on = async {
        while mysql.cancel(third.task.run, None).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        while mysql.cancel(RunId::new(), None).await.ok() != Some(Cancelled::Unknown) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        start(&mysql, "orders", json!(1)).await;
    };
    timeout(LONG, goes_on).await.expect("all goes on");
}
