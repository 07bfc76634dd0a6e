//! The arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use pgflow_build::{Migrations, Style};

use crate::error::Error;

/// Cargo calls `cargo-pgflow pgflow …`.
#[derive(Parser)]
#[command(name = "cargo", bin_name = "cargo")]
pub(crate) enum Cargo {
    Pgflow(Options),
}

/// Migrations, drift, drawings and schemas of the flows of a crate.
#[derive(Args)]
#[command(
    version,
    after_help = "\
Examples:
  cargo pgflow migrate                 write the migrations that are missing
  cargo pgflow check                   in CI: fail if any is missing
  cargo pgflow show --format mermaid   draw the flows
  cargo pgflow diff main               what a pull request changes, as Markdown
  cargo pgflow schema --check          whether stored data stays readable

Exit codes: 0 done or up to date, 1 behind or failed, 2 wrong arguments."
)]
pub(crate) struct Options {
    /// The crate, if it is not the current directory.
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Write the migrations that are missing, and `pgflow.lock`.
    Migrate(Migrate),
    /// Fail if source, `pgflow.lock` and migrations disagree; writes nothing.
    Check(Check),
    /// Show the flows: their steps, or drawings of them.
    Show(Show),
    /// Compare two revisions of `pgflow.lock`, as Markdown for a pull request.
    Diff(Diff),
    /// Compare the JSON Schemas of stored data with `pgflow.schemas.json`.
    Schema(Schema),
}

#[derive(Args)]
pub(crate) struct Migrate {
    #[command(flatten)]
    pub(crate) place: Place,

    /// Write a migration that deletes this flow, which is no longer in the source, and all its runs.
    #[arg(long, value_name = "FLOW")]
    pub(crate) drop: Option<String>,

    /// Also write the migrations of the SQL core itself that are missing.
    #[arg(long, conflicts_with = "drop")]
    pub(crate) core: bool,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) place: Place,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Show {
    /// Only this flow.
    pub(crate) flow: Option<String>,

    /// How to show it.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Steps as `pgflow.lock` has them, and what has changed since.
    Text,
    /// A drawing for Markdown.
    Mermaid,
    /// A drawing for Graphviz.
    Dot,
    /// The shape as the database compares it.
    Json,
}

#[derive(Args)]
pub(crate) struct Diff {
    /// The revision before: a git revision, or a file.
    pub(crate) before: String,

    /// The revision after; the file in the crate if it is not given.
    pub(crate) after: Option<String>,

    /// Print one JSON object instead of Markdown.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Schema {
    /// Fail if the schemas differ from the file (the default).
    #[arg(long)]
    pub(crate) check: bool,

    /// Write the file.
    #[arg(long, conflicts_with = "check")]
    pub(crate) write: bool,
}

/// Where migrations are. What the build script said is in `pgflow.lock`, so this is rarely needed.
#[derive(Args)]
pub(crate) struct Place {
    /// Where migrations are, below the crate [default: as in pgflow.lock, or `migrations`]
    #[arg(long, value_name = "DIR")]
    migrations: Option<PathBuf>,

    /// How files are called: sqlx, refinery or plain [default: as in pgflow.lock, or sqlx]
    #[arg(long, value_name = "STYLE")]
    style: Option<Style>,
}

impl Options {
    /// The crate's migrations.
    pub(crate) fn migrations(&self, place: Option<&Place>) -> Result<Migrations, Error> {
        let dir = place.and_then(|place| place.migrations.clone());
        let style = place.and_then(|place| place.style);
        let mut migrations =
            pgflow_build::migrations("migrations").in_crate(&self.dir).with_settings_of_lock()?;
        if let Some(dir) = dir {
            migrations = migrations.in_directory(dir);
        }
        Ok(style.map_or(migrations.clone(), |style| migrations.style(style)))
    }
}
