//! `cargo pgflow`: migrations, drift, drawings and schemas of the flows of a crate.

#![forbid(unsafe_code)]

mod args;
mod check;
mod diff;
mod error;
mod migrate;
mod revision;
mod schema;
mod show;

use std::process::ExitCode;

use args::{Cargo, Command};
use clap::Parser;

fn main() -> ExitCode {
    let Cargo::Pgflow(options) = Cargo::parse();
    let result = match &options.command {
        Command::Migrate(command) => migrate::run(&options, command),
        Command::Check(command) => check::run(&options, command),
        Command::Show(command) => show::run(&options, command),
        Command::Diff(command) => diff::run(&options, command),
        Command::Schema(command) => schema::run(&options, command),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {}", error::chain(&error));
        ExitCode::FAILURE
    })
}
