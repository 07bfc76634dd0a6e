//! The first five minutes: `cargo run --example quickstart`.
//!
//! Runs the flow of the README in an SQLite file and shows what happens. `--crash` kills the worker in the
//! middle, `--database URL` does the same on another database.

mod bar;
mod crash;
mod flow;
mod show;
mod worker;

use std::process::ExitCode;

use clap::Parser;
use pgflow::Run;
use pgflow::prelude::*;

use flow::{Site, analyze_website};
use worker::Local;

/// Any error.
type Outcome<T = ()> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Analyses a website that does not exist, durably.
#[derive(Parser)]
#[command(name = "quickstart")]
struct Args {
    /// Where runs are kept: `sqlite:…`, `postgres://…`, `mysql://…` or `memory:`
    #[arg(long, value_name = "URL", default_value = "sqlite:quickstart.db")]
    database: String,

    /// Kill the worker's process in the middle, and let another one finish the run
    #[arg(long)]
    crash: bool,

    /// Be a worker until standard input ends
    #[arg(long, hide = true)]
    worker: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Args::parse()).await {
        Ok(code) => code,
        Err(error) => {
            show::error(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn run(args: &Args) -> Outcome<ExitCode> {
    let db = Db::connect(&args.database).await?;
    if args.worker {
        return worker::be_one(&db).await.map(|()| ExitCode::SUCCESS);
    }
    if args.crash {
        crash::check(&db)?;
    }
    db.migrate().await?;
    db.register(analyze_website::Flow).await?;
    show::line(format_args!("database  {db}"));
    let site = Site { url: "https://example.org".to_owned() };
    let run = db.start(analyze_website::Flow, &site).await?;
    show::line(format_args!("run       {}\n", run.id()));
    tokio::select! {
        followed = follow(args, &db, &run) => followed.map(|()| ExitCode::SUCCESS),
        _ = tokio::signal::ctrl_c() => {
            show::interrupted(&db, &run);
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}

/// What a shell expects of a program that Ctrl-C has ended.
const INTERRUPTED: u8 = 130;

async fn follow(args: &Args, db: &Db, run: &Run<analyze_website::Flow>) -> Outcome {
    if args.crash {
        crash::run(&args.database, run).await?;
    } else {
        let worker = Local::start(db);
        show::run(run, |_| Ok(())).await?;
        worker.stop().await?;
    }
    show::output(run).await?;
    show::hint(db, args.crash);
    Ok(())
}
