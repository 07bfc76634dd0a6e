//! The processes that experiments start, and harm.

mod cycles;
mod push;
mod start_in;
mod worker;

pub(crate) use cycles::Belongings;
pub(crate) use start_in::{KEY, STARTED};

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use crate::harness::Outcome;

/// What a process of an experiment does.
#[derive(Clone, Debug, Subcommand)]
pub enum Child {
    /// Works until SIGTERM
    #[command(hide = true)]
    Worker(worker::Options),
    /// Starts a run in a transaction, says so, and waits to be killed
    #[command(hide = true)]
    StartIn(Place),
    /// Pushes messages
    #[command(hide = true)]
    Push(push::Options),
    /// Starts and stops workers, and says what is left of them
    #[command(hide = true)]
    Cycles(cycles::Options),
}

/// Where the experiment is.
#[derive(Clone, Debug, clap::Args)]
pub struct Place {
    #[arg(long)]
    database: String,
    #[arg(long)]
    dir: PathBuf,
}

impl Child {
    /// Does it.
    pub fn run(self) -> Outcome<ExitCode> {
        end_with_the_experiment();
        let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false);
        log.with_max_level(tracing_subscriber::filter::LevelFilter::WARN).init();
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(self.threads()).enable_all().build()?;
        runtime.block_on(async {
            match self {
                Self::Worker(options) => worker::run(options).await,
                Self::Push(options) => push::run(options).await,
                Self::StartIn(place) => start_in::run(&place).await,
                Self::Cycles(options) => cycles::run(options).await,
            }
        })
    }
}

impl Child {
    /// Of the runtime that handlers run on.
    fn threads(&self) -> usize {
        match self {
            Self::Worker(options) => options.threads,
            Self::Push(_) | Self::StartIn(_) | Self::Cycles(_) => 4,
        }
    }
}

/// Standard input ends when the experiment's process does, however that happened.
fn end_with_the_experiment() {
    std::thread::spawn(|| {
        while std::io::stdin().read(&mut [0]).is_ok_and(|read| read > 0) {}
        std::process::exit(1);
    });
}
