//! `cargo xtask provision`: before the first test, so that tests only find.

use std::time::{Duration, Instant};

use clap::Args;
use pgflow_test_programs::{Error, major_of_environment, provision};

/// Debian's packages, as root; elsewhere it says what is missing.
#[derive(Args)]
pub(crate) struct Options {
    /// The programs of this major version of Postgres too, 14 to 18, from npm.
    #[arg(long, value_name = "MAJOR")]
    postgres: Option<u32>,
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    provision(options.postgres).map_err(|error| with_cause(&error))
}

/// The same as a stage, for what the environment asks for; how long it took.
pub(crate) fn stage() -> Result<Duration, String> {
    println!("==> provision: what the tests need and this machine lacks");
    let start = Instant::now();
    let done = major_of_environment().and_then(provision);
    done.map_err(|error| with_cause(&error))?;
    let took = start.elapsed();
    println!("<== provision: {:.1} s", took.as_secs_f64());
    Ok(took)
}

fn with_cause(error: &Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}
