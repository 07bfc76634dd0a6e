//! The repository's own commands.

mod artifacts;
mod cargo;
mod constants;
mod fresh;
mod marks;
mod mutants;
mod packages;
mod provision;
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
    /// Install what the tests need and this machine lacks.
    Provision(provision::Options),
    /// Prove the two commands of the README where nothing is installed: in a bare Debian root.
    Fresh(fresh::Options),
    /// Package the crates that users need, offline, and see that all they need is inside.
    Packages(packages::Options),
    /// Write the constants that the machine and the SQL core have in common.
    Constants(constants::Options),
    /// Break the SQL core in one place at a time and see that a test notices.
    Mutants(mutants::Options),
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Test(options) => test::run(&options).map_err(|failure| failure.to_string()),
        Command::Provision(options) => provision::run(&options),
        Command::Fresh(options) => fresh::run(&options).map_err(|error| error.to_string()),
        Command::Constants(options) => constants::run(&options),
        Command::Packages(options) => packages::run(&options),
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
