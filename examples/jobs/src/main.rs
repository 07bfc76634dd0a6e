//! `cargo run -p pgflow-example-jobs`: the life of an invoice, in an SQLite file and with a second process that reviews.
//!
//! On a database of yours the parts can be had one by one: `work`, `submit` and `review`, with `--database URL`. On Postgres the
//! review can be done by hand, in psql: docs/jobs.md shows how.

use std::process::{ExitCode, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Parser, Subcommand};
use pgflow::prelude::*;
use pgflow_example_jobs::{JobHandle, reviewer, sample, submit, worker};
use tokio::process::{Child, Command};

type Outcome<T = ()> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Invoices: ingest, fan out, join, review by another process, finish.
#[derive(Parser)]
struct Args {
    /// Where jobs are kept: `sqlite:…`, `postgres://…` or `mysql://…`
    #[arg(long, value_name = "URL", global = true, default_value = "sqlite:invoices.db")]
    database: String,

    #[command(subcommand)]
    part: Option<Part>,
}

/// Without one, all of them in turn.
#[derive(Subcommand)]
enum Part {
    /// Works on everything but reviews, until it is told to stop
    Work,
    /// Submits an invoice, and waits for its end
    Submit,
    /// Reviews, until it is told to stop
    Review,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("invoices: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: &Args) -> Outcome {
    let db = Db::connect(&args.database).await?;
    db.migrate().await?;
    match args.part {
        Some(Part::Work) => {
            worker(&db).run_until_signal().await?;
        }
        Some(Part::Review) => {
            reviewer(&db, "the second process".into()).run_until_signal().await?;
        }
        Some(Part::Submit) => show(&submit(&db, &name()?, &sample()).await?).await?,
        None => everything(&db, &args.database).await?,
    }
    Ok(())
}

/// A name of its own for each invoice, so that the example can be run again.
fn name() -> Outcome<String> {
    Ok(format!("invoice {}", SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis()))
}

/// Works here, and lets another process review.
async fn everything(db: &Db, database: &str) -> Outcome {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let working = worker(db).run(async { drop(stopped.await) });
    let ours = async {
        let invoice = submit(db, &name()?, &sample()).await?;
        println!("{} is submitted; in a moment it waits for a review", invoice.id());
        while invoice.wait_for(Duration::from_millis(50)).await?.is_none() {
            if invoice.status().await?.to_string() == "PENDING_JOBS" && is_under_review(db).await? {
                break;
            }
        }
        println!("nobody here reviews: another process does");
        let mut reviewer = spawn_reviewer(database)?;
        let shown = show(&invoice).await;
        reviewer.kill().await?;
        drop(stop);
        shown
    };
    let (worked, shown) = tokio::join!(working, ours);
    worked?;
    shown
}

async fn is_under_review(db: &Db) -> Outcome<bool> {
    let query = pgflow::backend::JobQuery {
        need: Some("human.review".into()),
        max: 1,
        ..pgflow::backend::JobQuery::default()
    };
    Ok(!db.jobs(&query).await?.is_empty())
}

fn spawn_reviewer(database: &str) -> Outcome<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--database", database, "review"]).stdin(Stdio::null());
    Ok(command.kill_on_drop(true).spawn()?)
}

/// Waits for the end of an invoice, and says what happened to it.
async fn show(invoice: &JobHandle) -> Outcome {
    let letter: String = invoice.output().await?;
    for event in invoice.trace().await? {
        println!("  {:>3} {:<12} {}", event.number, event.kind, event.by.unwrap_or_default());
    }
    println!("{}: {letter}", invoice.id());
    Ok(())
}
