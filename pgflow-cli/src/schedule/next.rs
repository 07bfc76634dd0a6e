//! `pgflow schedule next`.

use clap::Args;
use serde_json::{Value, json};

use crate::database::{Reach, shapes};
use crate::error::Error;
use crate::out;

/// Of which schedule.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow schedule next nightly
  pgflow schedule next nightly --limit 100 --json")]
pub(crate) struct Next {
    /// Its name.
    name: String,

    #[command(flatten)]
    reach: Reach,

    /// How many moments.
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

pub(super) async fn run(command: &Next) -> Result<bool, Error> {
    let schedule = command.reach.open().await?.schedule(&command.name);
    let moments = schedule.next(command.limit.into()).await?;
    if command.reach.json {
        let moments: Vec<Value> = moments.iter().map(|at| shapes::moment(Some(*at))).collect();
        out::json(json!({ "schedule": command.name, "next": moments }))?;
        return Ok(true);
    }
    for moment in moments {
        out::line(moment)?;
    }
    Ok(true)
}
