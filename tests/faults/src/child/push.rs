//! A producer in a process of its own.

use std::process::ExitCode;

use pgflow::Db;

use super::Place;
use crate::flows::pipelines::numbers;
use crate::harness::Outcome;

/// What it pushes.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    place: Place,
    /// The first number
    #[arg(long)]
    from: u32,
    /// How many
    #[arg(long)]
    many: u32,
}

pub(super) async fn run(options: Options) -> Outcome<ExitCode> {
    let db = Db::connect(&options.place.database).await?;
    let all: Vec<_> = (options.from..options.from + options.many).collect();
    numbers().push_all(&db, &all).await?;
    Ok(ExitCode::SUCCESS)
}
