//! How long the server takes for a page when there are a million runs, and a million live jobs.
//!
//! `cargo run --release -p pgflow-web-tests --bin pages`; `--short` makes do with ten thousand.

mod fill;
mod fill_jobs;
mod measure;

use clap::Parser;
use pgflow::prelude::*;
use pgflow::{Db, Worker};
use pgflow_web_tests::{Order, Outcome, Tools, orders};
use pgflow_worker_tests::{Fresh, Working};

use measure::{Figure, measure};

/// What no page may take longer than, in milliseconds.
const GOAL: f64 = 50.0;

/// Measures pages of the dashboard on an SQLite file, a Postgres and a MariaDB of its own, in this process.
#[derive(Parser)]
struct Args {
    /// How many runs there are.
    #[arg(long, default_value_t = 1_000_000)]
    runs: u32,
    /// How many live jobs there are.
    #[arg(long, default_value_t = 1_000_000)]
    jobs: u32,
    /// Ten thousand of them, and no goal: that it works.
    #[arg(long, conflicts_with_all = ["runs", "jobs"])]
    short: bool,
    /// Only on these: sqlite, postgres, mysql.
    #[arg(long, value_name = "NAME")]
    on: Vec<String>,
    /// How often each page is asked for.
    #[arg(long, default_value_t = 40)]
    rounds: u32,
    /// Figures for programs, one JSON object.
    #[arg(long)]
    json: bool,
}

#[tokio::main]
async fn main() -> Outcome {
    let args = Args::parse();
    let (runs, jobs) = if args.short { (10_000, 10_000) } else { (args.runs, args.jobs) };
    let mut figures = Vec::new();
    for name in ["sqlite", "postgres", "mysql"] {
        if !args.on.is_empty() && !args.on.iter().any(|on| on == name) {
            continue;
        }
        let fresh = match name {
            "sqlite" => Fresh::sqlite().await?,
            "postgres" => Fresh::postgres().await?,
            _ => Fresh::mysql().await?,
        };
        eprintln!("{name}: making {runs} runs and {jobs} jobs");
        template(&fresh.db).await?;
        fill::fill(&fresh.url, runs).await?;
        fill_jobs::fill_jobs(&fresh.url, jobs).await?;
        let page = run_to_look_at(&fresh.db).await?;
        eprintln!("{name}: asking for pages");
        figures.extend(measure(name, &fresh.db, &page, args.rounds).await?);
    }
    print(&args, &figures);
    let slow = figures.iter().filter(|figure| figure.p50 > GOAL).count();
    if slow > 0 && !args.short {
        return Err(format!("{slow} pages took more than {GOAL} ms in the middle").into());
    }
    Ok(())
}

/// A flow that leaves little behind, so that a million runs of it fit a small machine.
#[flow(input = u32)]
mod tick {
    use super::Result;

    #[step]
    async fn count(run: u32) -> Result<u32> {
        Ok(run + 1)
    }
}

/// A run that really went through: the others are copies of it.
async fn template(db: &Db) -> Outcome {
    db.register(tick::Flow).await?;
    db.register(orders::Flow).await?;
    let worker = Working::start(Worker::new(db).flow(tick::Flow));
    db.start(tick::Flow, &1).await?.wait().await?;
    worker.stop().await?;
    Ok(())
}

/// One with a graph and a wide map.
async fn run_to_look_at(db: &Db) -> Outcome<String> {
    let worker = Worker::new(db).flow(orders::Flow).state(Tools::default()).concurrency(64);
    let worker = Working::start(worker);
    let run = db.start(orders::Flow, &Order::of(1_000)).await?;
    run.wait().await?;
    worker.stop().await?;
    Ok(run.id().to_string())
}

fn print(args: &Args, figures: &[Figure]) {
    if args.json {
        let rows: Vec<_> = figures.iter().map(Figure::json).collect();
        println!("{}", serde_json::json!({ "goal_ms": GOAL, "pages": rows }));
        return;
    }
    println!("| database | page | p50 ms | p95 ms | KB |\n|---|---|---|---|---|");
    for Figure { database, page, p50, p95, bytes } in figures {
        println!("| {database} | {page} | {p50:.1} | {p95:.1} | {} |", bytes / 1024);
    }
}
