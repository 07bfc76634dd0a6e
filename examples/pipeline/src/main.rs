//! `cargo run -p pgflow-example-pipeline`: a pipeline in an SQLite file, with progress on screen.
//!
//! `--processes 3` works with three processes; `--crash` kills one of them on the way, and nothing is lost or done twice.

mod stages;

use std::fmt::Write as _;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use clap::Parser;
use pgflow::backend::{JobQuery, JobsOf};
use pgflow::job::JobOutcome;
use pgflow::prelude::*;
use stages::{Doc, docs, worker};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::sleep;

type Outcome<T = ()> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Documents → chunks → embeddings in batches on one GPU → an index.
#[derive(Parser)]
struct Args {
    /// Where messages are kept: `sqlite:…`, `postgres://…` or `mysql://…`
    #[arg(long, value_name = "URL", default_value = "sqlite:embeddings.db")]
    database: String,
    /// How many processes work
    #[arg(long, default_value_t = 1)]
    processes: usize,
    /// Kills one of them on the way
    #[arg(long)]
    crash: bool,
    /// How many documents there are
    #[arg(long, default_value_t = 60)]
    documents: usize,
    /// Only works, until who started it is gone
    #[arg(long, hide = true)]
    work: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("embeddings: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: &Args) -> Outcome {
    let db = Db::connect(&args.database).await?;
    db.migrate().await?;
    db.resource("gpu").capacity(1).await?;
    if args.work {
        worker(&db).run(parent_gone()).await?;
        return Ok(());
    }
    let mut processes = Vec::new();
    for _ in 0..args.processes.max(1) {
        processes.push(start(&args.database)?);
    }
    if open(&db).await?.0 > 0 {
        println!("an earlier run was interrupted: its messages come first");
        watch(&db).await?;
    }
    let before = indexed(&db).await?;
    let documents = sample(args.documents);
    let sentences: usize = documents.iter().map(|doc| doc.text.split(". ").count()).sum();
    docs().push_all(&db, &documents).await?;
    println!("{} documents with {sentences} sentences", documents.len());
    if args.crash {
        sleep(Duration::from_millis(700)).await;
        processes[0].kill().await?;
        println!("  a process was killed; its messages are another's when their leases lapse");
        processes[0] = start(&args.database)?;
    }
    watch(&db).await?;
    for mut process in processes {
        process.kill().await?;
    }
    let done = indexed(&db).await? - before;
    println!("{done} of {sentences} sentences are in the index");
    if done == sentences { Ok(()) } else { Err("that is not each of them once".into()) }
}

fn start(database: &str) -> Outcome<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--work", "--database", database]).stdin(Stdio::piped()).kill_on_drop(true);
    Ok(command.spawn()?)
}

/// Is ready when nobody holds the other end of the standard input any more.
async fn parent_gone() {
    let (gone, wait) = oneshot::channel();
    std::thread::spawn(move || {
        let ended = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        gone.send(ended).ok();
    });
    wait.await.ok();
}

/// Tells how it goes, until there is nothing left to do.
async fn watch(db: &Db) -> Outcome {
    loop {
        let (open, line) = open(db).await?;
        println!("{line}");
        if open == 0 {
            return Ok(());
        }
        sleep(Duration::from_millis(300)).await;
    }
}

/// How many messages there are still to do, and where.
async fn open(db: &Db) -> Outcome<(u64, String)> {
    let (mut open, mut line) = (0, String::new());
    for queue in ["docs", "chunks", "index"] {
        let stats = db.queue(queue).stats().await?;
        open += stats.depth + stats.in_flight;
        write!(line, "{queue} {:>4} + {:<3} ", stats.depth, stats.in_flight)?;
    }
    Ok((open, line))
}

/// How many entries of the index are done.
async fn indexed(db: &Db) -> Outcome<usize> {
    let of = JobsOf::EndedAs(JobOutcome::Done);
    let query = JobQuery { of, need: Some("index".to_owned()), after: None, max: 1_000_000 };
    Ok(db.jobs(&query).await?.len())
}

fn sample(documents: usize) -> Vec<Doc> {
    let text = |number: usize| {
        let sentence = |at| format!("Sentence {at} of document {number} is about embeddings");
        (0..=number % 4).map(sentence).collect::<Vec<_>>().join(". ")
    };
    let doc = |number| Doc { tenant: format!("tenant {}", number % 3), text: text(number) };
    (0..documents).map(doc).collect()
}
