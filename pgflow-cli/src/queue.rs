//! `pgflow queue`.

mod depth;
pub(crate) mod pause;
mod rate;

use clap::{Args, Subcommand};

use crate::database::Reach;
use crate::error::Error;

#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  pgflow queue depth docs
  pgflow queue pause docs              nobody takes its messages until it is resumed
  pgflow queue rate openai 600/min     for all processes, from their next claim on

A queue is a need of jobs, or of messages of a pipeline. `pgflow ls --queues` lists them.")]
pub(crate) enum Queue {
    /// Count what is in a queue.
    #[command(
        after_help = "Examples:\n  pgflow queue depth docs\n  pgflow queue depth docs --json"
    )]
    Depth(Named),
    /// Keep what is in a queue from being taken, by whomever; what is taken goes on.
    #[command(after_help = "Examples:\n  pgflow queue pause docs")]
    Pause(Named),
    /// Let what is in a queue be taken again.
    #[command(after_help = "Examples:\n  pgflow queue resume docs")]
    Resume(Named),
    /// List rates, or set one.
    Rate(rate::Rates),
}

/// Which queue.
#[derive(Args)]
pub(crate) struct Named {
    /// Its name, or the need of jobs.
    queue: String,

    #[command(flatten)]
    reach: Reach,
}

pub(crate) async fn run(command: &Queue) -> Result<bool, Error> {
    match command {
        Queue::Depth(named) => depth::run(named).await,
        Queue::Pause(named) => pause::pause(named).await,
        Queue::Resume(named) => pause::resume(named).await,
        Queue::Rate(command) => rate::run(command).await,
    }
}
