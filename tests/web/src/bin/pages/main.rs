//! How long the server takes for a page when there are a million runs, and a million live jobs.
//!
//! `cargo run --release -p pgflow-web-tests --bin pages`; `--on postgres` measures one database, `--short` makes do with ten
//! thousand.

mod fill;
mod fill_jobs;
mod measure;
mod sights;

use std::time::Instant;

use clap::Parser;
use pgflow::prelude::*;
use pgflow::{Db, Worker};
use pgflow_web_tests::{Outcome, orders};
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
    /// How many tasks the wide map has.
    #[arg(long, default_value_t = 100_000)]
    tasks: u32,
    /// Ten thousand of them, a map of a thousand, and no goal: that it works.
    #[arg(long, conflicts_with_all = ["runs", "jobs", "tasks"])]
    short: bool,
    /// Only on these; may be repeated.
    #[arg(long, value_name = "NAME", value_parser = DATABASES)]
    on: Vec<String>,
    /// How often each page is asked for.
    #[arg(long, default_value_t = 40)]
    rounds: u32,
    /// Figures for programs, one JSON object.
    #[arg(long)]
    json: bool,
}

/// How many there are of everything.
#[derive(Clone, Copy)]
struct Size {
    runs: u32,
    jobs: u32,
    tasks: u32,
    /// Waits, and schedules.
    others: u32,
}

impl Args {
    fn size(&self) -> Size {
        if self.short {
            return Size { runs: 10_000, jobs: 10_000, tasks: 1_000, others: 60 };
        }
        Size { runs: self.runs, jobs: self.jobs, tasks: self.tasks, others: 1_000 }
    }
}

const DATABASES: [&str; 3] = ["sqlite", "postgres", "mysql"];

#[tokio::main]
async fn main() -> Outcome {
    let args = Args::parse();
    let mut figures = Vec::new();
    for name in DATABASES {
        if args.on.is_empty() || args.on.iter().any(|on| on == name) {
            figures.extend(of(name, &args).await?);
        }
    }
    print(&args, &figures);
    let slow: Vec<_> = figures.iter().filter(|figure| figure.p50 > GOAL).collect();
    if !slow.is_empty() && !args.short {
        let named = slow.iter().map(|it| format!("{} on {}", it.page, it.database));
        let named = named.collect::<Vec<_>>().join("; ");
        return Err(format!("more than {GOAL} ms in the middle: {named}").into());
    }
    Ok(())
}

/// Makes a database, and asks for its pages.
async fn of(name: &'static str, args: &Args) -> Outcome<Vec<Figure>> {
    let (size, begun) = (args.size(), Instant::now());
    let said = |what: &str| eprintln!("{name}, {:.0} s: {what}", begun.elapsed().as_secs_f64());
    let fresh = match name {
        "sqlite" => Fresh::sqlite().await?,
        "postgres" => Fresh::postgres().await?,
        _ => Fresh::mysql().await?,
    };
    template(&fresh.db).await?;
    said(&format!("making {} runs", size.runs));
    fill::fill(&fresh.url, size.runs).await?;
    said(&format!("making {} jobs", size.jobs));
    fill_jobs::fill_jobs(&fresh.url, size.jobs).await?;
    said(&format!("making a map of {} tasks, and what else there is to see", size.tasks));
    let sights = sights::sights(&fresh.db, size.tasks, size.others).await?;
    said("asking for pages");
    let figures = measure(name, &fresh.db, &sights, size.tasks, args.rounds).await?;
    said("done");
    Ok(figures)
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

fn print(args: &Args, figures: &[Figure]) {
    if args.json {
        let rows: Vec<_> = figures.iter().map(Figure::json).collect();
        println!("{}", serde_json::json!({ "goal_ms": GOAL, "pages": rows }));
        return;
    }
    // A row per page, as docs/dashboard.md has it: the middle, and what 95 of 100 are below.
    let databases: Vec<_> = DATABASES
        .iter()
        .filter(|name| figures.iter().any(|figure| figure.database == **name))
        .collect();
    let titles: Vec<_> = databases.iter().map(|name| format!(" {} |", title(name))).collect();
    println!("| page |{} KB |", titles.concat());
    println!("|---|{}---|", "---|".repeat(databases.len()));
    let first = figures.first().map_or("", |figure| figure.database);
    for page in figures.iter().filter(|figure| figure.database == first) {
        let of_page = figures.iter().filter(|figure| figure.page == page.page);
        let cells: Vec<_> = of_page.map(|it| format!(" {:.1} ({:.1}) |", it.p50, it.p95)).collect();
        println!("| {} |{} {} |", page.page, cells.concat(), page.bytes / 1024);
    }
}

fn title(database: &str) -> &'static str {
    match database {
        "sqlite" => "SQLite",
        "postgres" => "Postgres",
        _ => "MariaDB",
    }
}
