//! Measures pgflow, its SQL core and its workers, against controls on the same database. See `docs/benchmark.md`.
#![forbid(unsafe_code)]

mod abilities;
mod args;
mod cases;
mod chosen;
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
mod job_goals;
mod jobs;
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
mod worker;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use tokio::runtime::Builder;

use args::Args;
use cases::Case;
use chosen::Chosen;
use environment::{Machine, ServerFacts};
use error::{BenchError, Result};
use report::Report;
use sample::Sample;
use server::Ground;

/// A target was missed and `--strict` given.
const MISSED: u8 = 2;

fn main() -> ExitCode {
    let args = Args::parse();
    if args.list {
        for (name, about) in chosen::all() {
            println!("{name:15} {about}");
        }
        return ExitCode::SUCCESS;
    }
    match bench(&args) {
        Ok(report) if args.strict && report.misses_a_goal() => ExitCode::from(MISSED),
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            print_chain(&error);
            ExitCode::FAILURE
        }
    }
}

fn bench(args: &Args) -> Result<Report> {
    let started = Instant::now();
    let machine = Machine::read();
    // Before a server is started for a case that does not exist.
    let Chosen { core, worker } = Chosen::of(args)?;
    let (mut servers, mut rounds, mut findings) = (Vec::new(), Vec::new(), None);
    if !core.is_empty() {
        // One thread, since what it drives is a server's work.
        let runtime = Builder::new_current_thread().enable_all().build();
        (servers, rounds) =
            runtime.map_err(BenchError::Runtime)?.block_on(bench_core(args, &core))?;
    }
    if !worker.is_empty() {
        // As applications have it.
        let runtime = Builder::new_multi_thread().enable_all().build();
        findings =
            Some(runtime.map_err(BenchError::Runtime)?.block_on(worker::run(args, &worker))?);
    }
    let mut report = Report::of(args, machine, servers, rounds, findings);
    report.seconds = started.elapsed().as_secs_f64();
    show(args, &report)?;
    Ok(report)
}

async fn bench_core(args: &Args, cases: &[Case]) -> Result<(Vec<ServerFacts>, Vec<Sample>)> {
    let mut ground = Ground::open(args).await?;
    let result = measure(args, cases, &mut ground).await;
    // Cleans up in any case; the first error is the one to tell.
    let closed = ground.close().await;
    let measured = result?;
    closed?;
    Ok(measured)
}

async fn measure(
    args: &Args,
    cases: &[Case],
    ground: &mut Ground,
) -> Result<(Vec<ServerFacts>, Vec<Sample>)> {
    let mut servers = Vec::new();
    for target in &mut ground.targets {
        servers.push(ServerFacts::read(target).await?);
    }
    let rounds = run::run(args, cases, &args.sizes(), &mut ground.targets).await?;
    Ok((servers, rounds))
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
