//! The repository's own commands.

mod stage;
mod test;

use std::process::ExitCode;

use clap::Parser;

/// The repository's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Command {
    /// Check the format, the lints, all tests and the documentation.
    Test(test::Options),
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Test(options) => test::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
