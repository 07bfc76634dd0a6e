//! Several processes on one file.

use std::process::Stdio;
use std::time::Duration;

use pgflow_machine::RunStatus;
use pgflow_model::{FlowShape, StepOptions};
use pgflow_runtime::backend::{Parts, Runs};
use pgflow_runtime::sqlite::Sqlite;
use pgflow_sqlite_tests::{Scratch, chain, ensure, map, start};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

fn worker(mode: &str, scratch: &Scratch, flow: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_worker"));
    command.arg(mode).arg(scratch.file()).arg(flow).stdout(Stdio::piped()).kill_on_drop(true);
    command.spawn().expect("a worker starts")
}

/// Waits for the byte that a worker prints when it has opened the file.
async fn is_up(worker: &mut Child) {
    let said = worker.stdout.as_mut().expect("it is piped");
    assert_eq!(said.read_u8().await.expect("it comes up"), b'\n');
}

/// How many tasks a worker says it settled.
async fn settled(worker: Child) -> usize {
    let output = worker.wait_with_output().await.expect("a worker ends");
    assert!(output.status.success(), "a worker failed");
    String::from_utf8(output.stdout).expect("text").trim().parse().expect("a number")
}

async fn assert_is_well(sqlite: &Sqlite) {
    assert_eq!(sqlite.check().await.expect("checked"), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn three_processes_share_the_work_and_do_nothing_twice() {
    let scratch = Scratch::new();
    let sqlite = scratch.open().await;
    ensure(&sqlite, &chain("orders", 3)).await;
    let mut runs = Vec::new();
    for n in 0..100 {
        runs.push(start(&sqlite, "orders", json!(n)).await);
    }
    let workers: Vec<_> = (0..3).map(|_| worker("batch", &scratch, "orders")).collect();
    let mut total = 0;
    for worker in workers {
        total += settled(worker).await;
    }
    assert_eq!(total, 300, "each task took effect once");
    for run in runs {
        let record = sqlite.run(run, Parts::Run).await.expect("it can be read").expect("it exists");
        assert_eq!(record.status, RunStatus::Completed);
    }
    assert_is_well(&sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn effects_of_transactions_happen_once_although_workers_are_killed() {
    const TASKS: u32 = 200;
    let scratch = Scratch::new();
    let sqlite = scratch.open().await;
    let flow = FlowShape { options: short_lease(), ..map("orders") };
    ensure(&sqlite, &flow).await;
    let url = format!("sqlite:{}", scratch.file().display());
    let mut own = SqliteConnection::connect(&url).await.expect("the file is there");
    sqlx::query("create table effects (n integer)").execute(&mut own).await.expect("a table");
    let run = start(&sqlite, "orders", (0..TASKS).map(Value::from).collect()).await;
    for _ in 0..8 {
        let mut doomed = worker("tx", &scratch, "orders");
        tokio::time::sleep(Duration::from_millis(250)).await;
        doomed.kill().await.expect("it can be killed");
    }
    settled(worker("tx", &scratch, "orders")).await;
    let record = sqlite.run(run, Parts::Run).await.expect("it can be read").expect("it exists");
    assert_eq!(record.status, RunStatus::Completed);
    let effects = "select count(*), count(distinct n) from effects";
    let counts: (u32, u32) = sqlx::query_as(effects).fetch_one(&mut own).await.expect("a count");
    assert_eq!(counts, (TASKS, TASKS), "none twice, none missing");
    assert_is_well(&sqlite).await;
}

/// They take turns at the lock. Without that, one of them waits while the others do nearly all, in the end until its lease is over.
#[tokio::test(flavor = "multi_thread")]
async fn processes_that_keep_the_lock_busy_lose_no_task_to_each_other() {
    let scratch = Scratch::new();
    let sqlite = scratch.open().await;
    // Long enough for a busy machine: who is kept waiting is seen from who did how much.
    let options = StepOptions { timeout: Some(120), ..Default::default() };
    ensure(&sqlite, &FlowShape { options, ..map("orders") }).await;
    let mut workers: Vec<_> = (0..3).map(|_| worker("hold", &scratch, "orders")).collect();
    // Who starts late has less to do: that is not what this is about.
    for worker in &mut workers {
        is_up(worker).await;
    }
    let run = start(&sqlite, "orders", (0..240).map(Value::from).collect()).await;
    let mut all = Vec::new();
    for worker in workers {
        all.push(settled(worker).await);
    }
    assert_eq!(all.iter().sum::<usize>(), 240, "{all:?}");
    assert!(all.iter().all(|tasks| *tasks >= 12), "{all:?}: one of them was kept waiting");
    let record = sqlite.run(run, Parts::Run).await.expect("it can be read").expect("it exists");
    assert_eq!(record.status, RunStatus::Completed);
    assert_is_well(&sqlite).await;
}

/// So that tasks of killed workers come back within seconds, as often as it takes.
fn short_lease() -> StepOptions {
    StepOptions { timeout: Some(1), max_attempts: Some(100), ..Default::default() }
}
