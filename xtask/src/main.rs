//! The repository's own commands.

mod artifacts;
mod mutants;
mod stage;
mod suites;
mod test;

use std::process::ExitCode;

use clap::Parser;

/// The repository's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Command {
    /// Check the format, the lints, all tests and the documentation.
    Test(test::Options),
    /// Break the SQL core in one place at a time and see that a test notices.
    Mutants(mutants::Options),
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Test(options) => test::run(&options).map_err(|failure| failure.to_string()),
        Command::Mutants(options) => mutants::run(&options).map_err(|error| error.to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
