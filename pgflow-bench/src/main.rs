//! Measures a pgflow SQL core against controls on the same server. See `docs/benchmark.md`.
#![forbid(unsafe_code)]

mod abilities;
mod args;
mod cases;
mod cleanup;
mod controls;
mod drive;
mod environment;
mod error;
mod flatness;
mod flow;
mod goals;
mod health;
mod history;
mod meter;
mod progress;
mod report;
mod run;
mod sample;
mod server;
mod size;
mod summary;
mod target;
mod warmup;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use args::Args;
use cases::Case;
use environment::{Machine, ServerFacts};
use error::Result;
use report::{Findings, Report};
use server::Ground;

/// A target was missed and `--strict` given.
const MISSED: u8 = 2;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args = Args::parse();
    if args.list {
        for case in Case::ALL {
            println!("{:15} {}", case.name(), case.about());
        }
        return ExitCode::SUCCESS;
    }
    match bench(&args).await {
        Ok(report) if args.strict && report.misses_a_goal() => ExitCode::from(MISSED),
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            print_chain(&error);
            ExitCode::FAILURE
        }
    }
}

async fn bench(args: &Args) -> Result<Report> {
    // Before a server is started for a case that does not exist.
    run::chosen(&args.cases)?;
    let mut ground = Ground::open(args).await?;
    let result = measure(args, &mut ground).await;
    // Cleans up in any case; the first error is the one to tell.
    let closed = ground.close().await;
    let report = result?;
    closed?;
    show(args, &report)?;
    Ok(report)
}

async fn measure(args: &Args, ground: &mut Ground) -> Result<Report> {
    let started = Instant::now();
    let machine = Machine::read();
    let mut sizes = args.size.mode().sizes();
    sizes.rounds = args.rounds.unwrap_or(sizes.rounds);
    let mut servers = Vec::new();
    for target in &mut ground.targets {
        servers.push(ServerFacts::read(target).await?);
    }
    let rounds = run::run(args, &sizes, &mut ground.targets).await?;
    let Findings { goals, flatness, summary } = Findings::of(&rounds);
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        mode: args.size.mode(),
        seed: args.seed,
        connections: args.connections,
        batch: args.batch,
        sizes,
        seconds: started.elapsed().as_secs_f64(),
        machine,
        servers,
        goals,
        flatness,
        summary,
        rounds,
    })
}

fn show(args: &Args, report: &Report) -> Result<()> {
    if args.json.as_deref() != Some(Path::new("-")) {
        report::print(report);
    }
    args.json.as_deref().map_or(Ok(()), |path| report::write(report, path))
}

fn print_chain(error: &dyn std::error::Error) {
    eprintln!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  because: {error}");
        cause = error.source();
    }
}
