//! `pgflow dead ls`.

use clap::Args;
use pgflow_runtime::backend::JobSearch;

use crate::database::Reach;
use crate::error::Error;
use crate::job;

/// What to list.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow dead ls
  pgflow dead ls --need docs --json")]
pub(crate) struct Ls {
    #[command(flatten)]
    reach: Reach,

    /// Only those that need this: of the queue of this name.
    #[arg(long)]
    need: Option<String>,

    /// Only those of this key.
    #[arg(long)]
    key: Option<String>,

    /// How many.
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,

    /// Go on after a page: what the last one ended with.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

pub(super) async fn run(command: &Ls) -> Result<bool, Error> {
    let after = command.after.as_deref().map(job::parse_cursor).transpose()?;
    let db = command.reach.open().await?;
    let (need, key, max) = (command.need.clone(), command.key.clone(), command.limit);
    let search = JobSearch { need, key, after, max, ..JobSearch::default() };
    let page = db.dead_jobs(&search).await?;
    job::print_page(&db, &command.reach, page).await?;
    Ok(true)
}
