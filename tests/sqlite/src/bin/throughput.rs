//! How fast: `cargo run --release -p pgflow-sqlite-tests --bin throughput [tasks] [history]`.

use std::time::Instant;

use pgflow_runtime::backend::{Backend, Work};
use pgflow_runtime::sqlite::{Durability, Sqlite, SqliteOptions};
use pgflow_sqlite_tests::{Scratch, chain, claim, complete, ensure, map, start};
use serde_json::{Value, json};

#[tokio::main]
async fn main() {
    let numbers: Vec<u32> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let tasks = numbers.first().copied().unwrap_or(20_000);
    let history = numbers.get(1).copied().unwrap_or(0);
    for durability in [Durability::Full, Durability::Normal] {
        let scratch = Scratch::new();
        let options = SqliteOptions::file(scratch.file()).durability(durability);
        let sqlite = Sqlite::open(&options).await.expect("it opens");
        sqlite.migrate().await.expect("it gets its schema");
        past(&sqlite, &scratch, history).await;
        println!("{durability:?}");
        for batch in [1, 16, 64, 200] {
            wide(&sqlite, tasks.min(batch * 1000), batch).await;
        }
        chains(&sqlite, tasks.min(5000) / 3, 64).await;
        assert_eq!(sqlite.check().await.expect("it can be checked"), Vec::<String>::new());
    }
}

/// One map: claims ride on settles.
async fn wide(sqlite: &Sqlite, tasks: u32, batch: u32) {
    let flow = format!("wide_{batch}");
    ensure(sqlite, &map(&flow)).await;
    let began = Instant::now();
    start(sqlite, &flow, (0..tasks).map(|n| json!({ "n": n })).collect::<Value>()).await;
    let started = began.elapsed();
    drain(sqlite, &flow, batch).await;
    let rate = f64::from(tasks) / began.elapsed().saturating_sub(started).as_secs_f64();
    println!("  map of {tasks}, batches of {batch}: start {started:.1?}, then {rate:.0} tasks/s");
}

/// Runs of three steps, started one by one, then worked on in batches.
async fn chains(sqlite: &Sqlite, runs: u32, batch: u32) {
    ensure(sqlite, &chain("chain", 3)).await;
    let began = Instant::now();
    for n in 0..runs {
        start(sqlite, "chain", json!({ "n": n })).await;
    }
    let started = began.elapsed();
    let start_rate = f64::from(runs) / started.as_secs_f64();
    drain(sqlite, "chain", batch).await;
    let rate = f64::from(runs) / began.elapsed().saturating_sub(started).as_secs_f64();
    println!(
        "  {runs} chains of 3: {start_rate:.0} starts/s, then {rate:.0} runs/s in batches of {batch}"
    );
}

async fn drain(sqlite: &Sqlite, flow: &str, batch: u32) {
    let claim = claim(flow, batch);
    let mut tasks = sqlite.claim(&claim).await.expect("a claim").tasks;
    while !tasks.is_empty() {
        let work = sqlite.settle(&complete(tasks), Some(&claim)).await.expect("a settle");
        tasks = work.claimed.tasks;
    }
}

/// Fills the tables with runs that have ended.
async fn past(sqlite: &Sqlite, scratch: &Scratch, runs: u32) {
    if runs == 0 {
        return;
    }
    ensure(sqlite, &chain("past", 1)).await;
    start(sqlite, "past", json!({ "n": 0 })).await;
    drain(sqlite, "past", 1).await;
    let url = format!("sqlite:{}", scratch.file().display());
    let pool = sqlx::SqlitePool::connect(&url).await.expect("it opens");
    for sql in COPIES {
        sqlx::query(sql).bind(runs).execute(&pool).await.expect("a copy");
    }
    println!("{runs} runs that have ended are there");
}

/// Copies of the first run, its step, its task and its events.
const COPIES: [&str; 5] = [
    "with recursive n(n) as (select 2 union all select n + 1 from n where n <= ?1)
     insert into pgflow_runs select n.n, randomblob(16), flow, status, remaining_steps, last_seq, started_at, ended_at,
            cancel_reason from n, pgflow_runs where id = 1",
    "with recursive n(n) as (select 2 union all select n + 1 from n where n <= ?1)
     insert into pgflow_run_data select n.n, input, output from n, pgflow_run_data where run = 1",
    "with recursive n(n) as (select 2 union all select n + 1 from n where n <= ?1)
     insert into pgflow_steps select n.n << 16, slug, status, remaining_deps, tasks, remaining_tasks, n.n, started_at,
            ended_at, skip_reason, error, output from n, pgflow_steps where id = 65536",
    "with recursive n(n) as (select 2 union all select n + 1 from n where n <= ?1)
     insert into pgflow_tasks (id, step, task_index, queue, status, ready_at, lost_at, attempts, refunded, losses,
            started_at, worker, error, input, output)
     select n.n, n.n << 16, task_index, queue, status, ready_at, lost_at, attempts, refunded,
            losses, started_at, worker, error, input, output from n, pgflow_tasks where id = 1",
    "with recursive n(n) as (select 2 union all select n + 1 from n where n <= ?1)
     insert into pgflow_events select n.n, seq, at, entry from n, pgflow_events where run = 1",
];
