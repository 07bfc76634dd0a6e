//! `cargo pgflow`: migrations, drift, drawings and schemas of the flows of a crate.

#![forbid(unsafe_code)]

mod args;
mod check;
mod crates;
mod diff;
mod error;
mod migrate;
mod out;
mod revision;
mod schema;
mod show;

use std::process::ExitCode;

use args::{Command, Options};
use clap::Parser;

fn main() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    // Cargo repeats the name of the command.
    if arguments.get(1).is_some_and(|first| first == "pgflow") {
        arguments.remove(1);
    }
    let options = Options::parse_from(arguments);
    let result = match &options.command {
        Command::Migrate(command) => migrate::run(&options, command),
        Command::Check(command) => check::run(&options, command),
        Command::Show(command) => show::run(&options, command),
        Command::Diff(command) => diff::run(&options, command),
        Command::Schema(command) => schema::run(&options, command),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            if !error.is_closed_pipe() {
                eprintln!("error: {}", error::chain(&error));
            }
            ExitCode::FAILURE
        }
    }
}
