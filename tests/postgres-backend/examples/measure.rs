//! How long an idle system takes to take up work, and how fast one worker settles and claims. Real commits.
//!
//! `cargo run --release -p pgflow-postgres-backend-tests --example measure`

use std::time::{Duration, Instant};

use pgflow_machine::RunId;
use pgflow_model::StepShape;
use pgflow_postgres_backend_tests::{done, room, version};
use pgflow_runtime::backend::{Backend, Definitions, NewRun, Runs, Wake, Wakes, Work};
use pgflow_runtime::postgres::Postgres;
use pgflow_test_support::{Server, ServerOptions, TestDb};
use serde_json::{Value, json};

#[tokio::main]
async fn main() {
    let options = ServerOptions { fsync: true, ..ServerOptions::default() };
    let server = Server::start(options).expect("a server");
    let db = TestDb::new_on(&server).await;
    let client = Postgres::connect(&db.url()).await.expect("a client");
    let worker = Postgres::connect(&db.url()).await.expect("a worker");
    for (slug, step) in [("two", StepShape::new("only")), ("map", StepShape::new("each").map())] {
        client.ensure_flow(&version(slug, [step])).await.expect("a flow");
    }
    latency(&client, &worker).await;
    for batch in [1, 10, 100, 1000] {
        rate(&client, &worker, batch).await;
    }
}

async fn start(client: &Postgres, flow: &str, input: Value) {
    let run = NewRun::new(flow, input, RunId::new());
    client.start(run).await.expect("a run");
}

/// From the call of `start` in one process to the task in the hands of another.
async fn latency(client: &Postgres, worker: &Postgres) {
    let mut wakes = worker.wakes();
    while wakes.next().await != Wake::Gap {}
    let (mut whole, mut after) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let began = Instant::now();
        let (started, claimed) = tokio::join!(
            async {
                start(client, "two", json!(1)).await;
                Instant::now()
            },
            take(worker, &mut wakes)
        );
        whole.push(claimed - began);
        after.push(claimed.saturating_duration_since(started));
    }
    for (what, times) in [("start() to claimed", &mut whole), ("started to claimed", &mut after)] {
        times.sort();
        let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e3;
        let (p50, p99) = (at(50), at(99));
        println!("{}", json!({ "case": what, "n": times.len(), "p50_ms": p50, "p99_ms": p99 }));
    }
}

async fn take(worker: &Postgres, wakes: &mut Wakes) -> Instant {
    loop {
        wakes.next().await;
        let tasks = worker.claim(&room(1)).await.expect("a claim").tasks;
        if let Some(task) = tasks.first() {
            let claimed = Instant::now();
            worker.settle(&[done(task, json!(1))], None).await.expect("an outcome");
            return claimed;
        }
    }
}

async fn rate(client: &Postgres, worker: &Postgres, batch: u32) {
    let tasks = (batch * 200).min(20_000);
    start(client, "map", (0..tasks).collect()).await;
    let claim = room(batch);
    let mut held = worker.claim(&claim).await.expect("a claim").tasks;
    let began = Instant::now();
    while !held.is_empty() {
        let settles: Vec<_> = held.iter().map(|task| done(task, json!(1))).collect();
        held = worker.settle(&settles, Some(&claim)).await.expect("outcomes").claimed.tasks;
    }
    let per_second = f64::from(tasks) / began.elapsed().as_secs_f64();
    println!(
        "{}",
        json!({ "case": "settle and claim", "batch": batch, "tasks": tasks, "per_s": per_second.round() })
    );
}
