//! `pgflow`: sees and steers runs, and writes migrations, drawings and schemas of the flows of a crate.

#![forbid(unsafe_code)]
// They panic if nobody reads any more: `out` does not.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod args;
mod bulk;
mod cancel;
mod check;
mod completions;
mod crates;
mod database;
mod dead;
#[cfg(feature = "web")]
mod dev;
mod diff;
mod doctor;
mod error;
mod graph;
mod hooks;
mod install;
mod interrupt;
mod job;
mod ls;
mod man;
mod manual;
mod migrate;
mod new;
mod out;
mod progress;
mod prune;
mod queue;
mod retry;
mod revision;
mod run;
mod schedule;
mod schema;
#[cfg(feature = "web")]
mod serve;
mod shell;
mod show;
mod signal;
mod start;
mod tail;
#[cfg(feature = "top")]
mod top;
mod undo;
mod why;

use std::process::ExitCode;

use args::{Command, Options};
use clap::{CommandFactory as _, FromArgMatches as _};
use error::Error;

pub use manual::manual;

/// The program: reads the arguments, does what they say, and returns the exit code.
pub fn main() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    let mut command = command().bin_name("pgflow");
    // Cargo repeats the name of the command.
    if arguments.get(1).is_some_and(|first| first == "pgflow") {
        arguments.remove(1);
        command = command.bin_name("cargo pgflow");
    }
    let matches = command.get_matches_from(arguments);
    let options = Options::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // Whoever reads it has seen enough.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // What a database says is shown, and not obeyed.
            out::note(format_args!(
                "error: {}",
                database::plain(&pgflow_model::with_causes(&error))
            ));
            if error.is_refused() {
                out::note(format_args!("help: `pgflow doctor` says what this login may not see"));
            }
            ExitCode::from(error.exit_code())
        }
    }
}

/// All arguments, as clap knows them.
pub fn command() -> clap::Command {
    Options::command()
}

/// Whether all is well.
fn run(options: &Options) -> Result<bool, Error> {
    match &options.command {
        Command::Ls(command) => database::block_on(ls::run(command)),
        Command::Why(command) => database::block_on(why::run(command)),
        Command::Start(command) => database::block_on(start::run(command)),
        Command::Tail(command) => database::block_on(tail::run(command)),
        Command::Graph(command) => database::block_on(graph::run(command)),
        Command::Retry(command) => database::block_on(retry::run(command)),
        Command::Cancel(command) => database::block_on(cancel::run(command)),
        Command::Signal(command) => database::block_on(signal::run(command)),
        Command::Job(command) => database::block_on(job::run(command)),
        Command::Dead(command) => database::block_on(dead::run(command)),
        Command::Queue(command) => database::block_on(queue::run(command)),
        Command::Schedule(command) => database::block_on(schedule::run(command)),
        Command::Doctor(command) => database::block_on(doctor::run(command)),
        Command::Prune(command) => database::block_on(prune::run(command)),
        #[cfg(feature = "top")]
        Command::Top(command) => database::block_on(top::run(command)),
        #[cfg(feature = "web")]
        Command::Serve(command) => database::block_on(serve::run(command)),
        #[cfg(feature = "web")]
        Command::Dev(command) => database::block_on(dev::run(command)),
        Command::Install(command) => database::block_on(install::run(command)),
        Command::New(command) => new::run(command),
        Command::Completions(command) => completions::run(command),
        Command::Man(command) => man::run(command),
        Command::Migrate(command) => migrate::run(options, command),
        Command::Check(command) => check::run(options, command),
        Command::Undo(command) => undo::undo(options, command),
        Command::Keep(command) => undo::keep(options, command),
        Command::Show(command) => show::run(options, command),
        Command::Diff(command) => diff::run(options, command),
        Command::Schema(command) => schema::run(options, command),
    }
}
