//! `pgflow schedule`.

mod add;
mod change;
mod ls;
mod next;

use clap::{Args, Subcommand};

pub(crate) use ls::list;

use crate::database::Reach;
use crate::error::Error;

#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  pgflow schedule ls
  pgflow schedule add nightly report '0 3 * * MON-FRI' '{\"kind\": \"sales\"}' --timezone Europe/Berlin
  pgflow schedule pause nightly
  pgflow schedule next nightly --limit 10")]
pub(crate) enum Schedule {
    /// List schedules, by name.
    Ls(ls::Ls),
    /// Make a schedule, or replace the one of this name.
    Add(add::Add),
    /// Keep a schedule from starting runs, until it is resumed.
    #[command(after_help = "Examples:\n  pgflow schedule pause nightly")]
    Pause(Named),
    /// Let a schedule start runs again, from its next moment on.
    #[command(after_help = "Examples:\n  pgflow schedule resume nightly")]
    Resume(Named),
    /// Print when a schedule starts its next runs.
    Next(next::Next),
    /// Start a run of a schedule now, whatever its moments are.
    #[command(after_help = "Examples:\n  pgflow schedule fire nightly")]
    Fire(Named),
    /// Remove a schedule; runs that it started go on.
    #[command(after_help = "Examples:\n  pgflow schedule rm nightly")]
    Rm(Named),
}

/// Which schedule.
#[derive(Args)]
pub(crate) struct Named {
    /// Its name.
    name: String,

    #[command(flatten)]
    reach: Reach,
}

pub(crate) async fn run(command: &Schedule) -> Result<bool, Error> {
    match command {
        Schedule::Ls(command) => ls::run(command).await,
        Schedule::Add(command) => add::run(command).await,
        Schedule::Pause(named) => change::pause(named).await,
        Schedule::Resume(named) => change::resume(named).await,
        Schedule::Next(command) => next::run(command).await,
        Schedule::Fire(named) => change::fire(named).await,
        Schedule::Rm(named) => change::remove(named).await,
    }
}
