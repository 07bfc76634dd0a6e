//! The arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use pgflow_build::{Migrations, Style};

use crate::cancel::Cancel;
use crate::completions::Completions;
use crate::database::Reach;
use crate::dead::Dead;
#[cfg(feature = "web")]
use crate::dev::Dev;
use crate::doctor::Doctor;
use crate::graph::Graph;
use crate::install::Install;
use crate::job::Job;
use crate::ls::Ls;
use crate::man::Man;
use crate::new::New;
use crate::prune::Prune;
use crate::queue::Queue;
use crate::retry::Retry;
use crate::schedule::Schedule;
#[cfg(feature = "web")]
use crate::serve::Serve;
use crate::signal::Signal;
use crate::start::Start;
use crate::tail::Tail;
#[cfg(feature = "top")]
use crate::top::Top;
use crate::why::Why;

/// Sees and steers runs, and writes migrations, drawings and schemas of the flows of a crate.
#[derive(Parser)]
#[command(
    name = "pgflow",
    version,
    after_help = "\
Examples:
  pgflow ls --status failed --since 1d        runs that failed today
  pgflow why 019a3f                           why a run does not move
  pgflow start order '{\"customer\": \"Ann\"}'  start a run
  pgflow doctor                               is the database all right?
  pgflow migrate                              write the migrations that are missing

Commands about runs take the database from `--database URL`, or from PGFLOW_DATABASE_URL,
WORKFLOW_DATABASE_URL or DATABASE_URL. Those about the source work on the crate of the current
directory; where that is a workspace, on every member that has migrations of flows.

Exit codes: 0 all is well, 1 something is wrong, 2 wrong arguments, 3 the database cannot be used,
130 ended by Ctrl-C."
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
    /// List runs, the newest first; or jobs, flows, queues, schedules, workers, waits.
    Ls(Ls),
    /// Show a run as a tree of steps, or a job; without either, the flows of the source.
    Show(Show),
    /// Say why a run or a job does not move.
    Why(Why),
    /// Start a run of the newest version of a flow.
    Start(Start),
    /// Print events as they happen: of a run until it ends, or of all runs.
    Tail(Tail),
    /// Draw the graph of a flow, or of a run with the states of its steps.
    Graph(Graph),
    /// Let failed runs go on from what failed.
    Retry(Retry),
    /// End runs before they are done.
    Cancel(Cancel),
    /// Answer a step that waits.
    Signal(Signal),
    /// List, submit, cancel and redrive jobs.
    #[command(subcommand)]
    Job(Job),
    /// List, redrive and drop dead jobs and messages.
    #[command(subcommand)]
    Dead(Dead),
    /// Count, pause and resume queues, and set their rates.
    #[command(subcommand)]
    Queue(Queue),
    /// List, make, pause and remove schedules.
    #[command(subcommand)]
    Schedule(Schedule),
    /// Look whether the database, its schema and the workers are all right.
    Doctor(Doctor),
    /// Delete runs and jobs that ended long ago.
    Prune(Prune),
    /// Watch queues, runs, jobs and workers, and steer them, in the terminal.
    #[cfg(feature = "top")]
    Top(Top),
    /// Serve the dashboard.
    #[cfg(feature = "web")]
    Serve(Serve),
    /// Install the schema, serve the dashboard and print what happens: one terminal for development.
    #[cfg(feature = "web")]
    Dev(Dev),
    /// Install pgflow's own schema into a database, or bring it up to date.
    Install(Install),
    /// Make a project: a flow, a worker, a test in virtual time, migrations.
    New(New),
    /// Print a script that completes commands in a shell.
    Completions(Completions),
    /// Write pages for `man`.
    Man(Man),
    /// Write the migrations that are missing, and `pgflow.lock`.
    Migrate(Migrate),
    /// Fail if source, `pgflow.lock` and migrations disagree; writes nothing.
    Check(Check),
    /// Take back the newest migration, also one that a database of yours has; never a committed one.
    Undo(Undo),
    /// Make migrations permanent where there is no git that knows what is committed.
    Keep(Keep),
    /// Compare two revisions of `pgflow.lock`, as Markdown for a pull request.
    Diff(Diff),
    /// Compare what runs store with `pgflow.schemas.json`: who can read what.
    Schema(Schema),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow migrate                       write what is missing
  pgflow migrate --core                also the migrations of pgflow's own schema
  pgflow migrate --retire order        the flow is no longer in the source, and that is meant

Builds do the same where build.rs calls `pgflow_build`. Ends with 1 if the source has mistakes.")]
pub(crate) struct Migrate {
    #[command(flatten)]
    pub(crate) place: MigrationFiles,

    /// Write a migration that deletes this flow, which is no longer in the source, and all its runs.
    #[arg(long, value_name = "FLOW")]
    pub(crate) drop: Option<String>,

    /// Note that this flow is no longer in the source on purpose; it stays in the database with its runs.
    #[arg(long, value_name = "FLOW", conflicts_with = "drop")]
    pub(crate) retire: Option<String>,

    /// Also write the migrations of the SQL core itself that are missing.
    #[arg(long, conflicts_with_all = ["drop", "retire"])]
    pub(crate) core: bool,

    /// Print one JSON object per crate instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow check                         in continuous integration, before anything is merged
  pgflow check --workspace --json

Ends with 1 if a migration is missing or was edited.")]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) place: MigrationFiles,

    /// Print one JSON object per crate instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  pgflow undo                          then change the flow, and build again

A migration that is committed stays: what it did is undone by another one.")]
pub(crate) struct Undo {
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Example:
  pgflow keep                          before a database that you cannot make anew gets them

With git there is nothing to do: what is committed is permanent.")]
pub(crate) struct Keep {
    /// Print one JSON object per crate instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow show 019a3f --events          a run: its steps, errors, and what it waits for
  pgflow show inv-42 --events          a job: where it stands, and what happened to it
  pgflow show --format mermaid         the flows of the source, as a drawing

What begins with a digit or has a hyphen is the id of a run or a job, or the beginning of one; so are four hexadecimal
digits or more that no flow is called. Other words are flows. `pgflow job show` takes any name of a job.")]
pub(crate) struct Show {
    /// The beginning of the id of a run or a job, or the name of a flow of the source.
    #[arg(value_name = "RUN|JOB|FLOW")]
    pub(crate) what: Option<String>,

    #[command(flatten)]
    pub(crate) reach: Reach,

    #[command(flatten)]
    pub(crate) more: More,

    /// How to show the flows of the source.
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

/// What else to show.
#[derive(Args)]
pub(crate) struct More {
    /// Of a run or job, also what it was given.
    #[arg(long)]
    pub(crate) input: bool,

    /// Of a run or job, also what it put out.
    #[arg(long)]
    pub(crate) output: bool,

    /// Of a run or job, also what happened to it.
    #[arg(long)]
    pub(crate) events: bool,
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
#[command(after_help = "\
Examples:
  pgflow diff                          what has changed since the last commit
  pgflow diff main                     what a branch changes, for its pull request
  pgflow diff v1.2 v1.3 --json")]
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
#[command(after_help = "\
Examples:
  pgflow schema                        can code of today read what older runs have stored?
  pgflow schema --write                take over what has changed

Compiles the crate and runs the tests that `#[flow]` makes in it. Ends with 1 if something differs.")]
pub(crate) struct Schema {
    /// Fail if the schemas differ from the file (the default).
    #[arg(long)]
    pub(crate) check: bool,

    /// Take over what has changed, also what breaks something.
    #[arg(long, conflicts_with = "check")]
    pub(crate) write: bool,

    /// Print one JSON object per flow instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where migrations are. What the build script said is in `pgflow.lock`, so this is rarely needed.
#[derive(Args)]
pub(crate) struct MigrationFiles {
    /// Where migrations are, below the crate [default: as in pgflow.lock, or `migrations`]
    #[arg(long, value_name = "DIR")]
    migrations: Option<PathBuf>,

    /// How files are called: sqlx, refinery or plain [default: as in pgflow.lock, or sqlx]
    #[arg(long, value_name = "STYLE")]
    style: Option<Style>,
}

impl MigrationFiles {
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
