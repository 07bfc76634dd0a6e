//! `pgflow dead`.

mod drop;
mod ls;

use clap::Subcommand;

use crate::error::Error;
use crate::job;

#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  pgflow dead ls --need docs           the last to die first
  pgflow dead redrive --need docs --where timeout --dry-run
  pgflow dead drop doc-7

A job or message is dead when it is out of attempts, failed for good, or ended too many of its workers.")]
pub(crate) enum Dead {
    /// List dead jobs and messages, the last to end first.
    Ls(ls::Ls),
    /// Open dead jobs and messages again.
    #[command(after_help = "\
Examples:
  pgflow dead redrive doc-7
  pgflow dead redrive --need docs --where timeout --spacing 1s

The same as `pgflow job redrive`: they get a fresh number of attempts, and keep their place in line and their history.")]
    Redrive(job::Redrive),
    /// Forget dead jobs and messages, with their histories.
    Drop(drop::Drop),
}

pub(crate) async fn run(command: &Dead) -> Result<bool, Error> {
    match command {
        Dead::Ls(command) => ls::run(command).await,
        Dead::Redrive(command) => job::redrive_all(command).await,
        Dead::Drop(command) => drop::run(command).await,
    }
}
