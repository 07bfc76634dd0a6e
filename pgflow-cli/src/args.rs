//! The arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use pgflow_build::{Migrations, Style};

/// Migrations, drift, drawings and schemas of the flows of a crate.
#[derive(Parser)]
#[command(
    name = "cargo-pgflow",
    bin_name = "cargo pgflow",
    version,
    after_help = "\
Examples:
  cargo pgflow migrate                 write the migrations that are missing
  cargo pgflow check                   in CI: fail if any is missing
  cargo pgflow show --format mermaid   draw the flows
  cargo pgflow diff main               what a pull request changes, as Markdown
  cargo pgflow schema --check          whether stored data stays readable

Works on the crate of the current directory; where that is a workspace, on every
member that has migrations of flows.

Exit codes: 0 done or up to date, 1 behind or failed, 2 wrong arguments."
)]
pub(crate) struct Options {
    /// Start from this directory.
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Only this crate of the workspace.
    #[arg(long, short, global = true, value_name = "NAME")]
    pub(crate) package: Option<String>,

    /// Every crate of the workspace that has migrations of flows.
    #[arg(long, global = true, conflicts_with = "package")]
    pub(crate) workspace: bool,

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

    /// Print one JSON object per crate instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) place: Place,

    /// Print one JSON object per crate instead of text.
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

    /// The same as `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
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
    #[arg(default_value = "HEAD")]
    pub(crate) before: String,

    /// The revision after; the file in the crate if it is not given.
    pub(crate) after: Option<String>,

    /// Print one JSON array per crate instead of Markdown.
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

impl Place {
    /// The same migrations, with what the user said.
    pub(crate) fn apply(&self, mut migrations: Migrations) -> Migrations {
        if let Some(dir) = &self.migrations {
            migrations = migrations.in_directory(dir);
        }
        match self.style {
            Some(style) => migrations.style(style),
            None => migrations,
        }
    }
}
