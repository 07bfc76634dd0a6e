//! One cargo command with a name and a clock.

use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

/// A command that has to succeed.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) args: &'static [&'static str],
    pub(crate) env: &'static [(&'static str, &'static str)],
}

/// A stage that did not.
#[derive(Debug)]
pub(crate) struct Failure {
    stage: &'static str,
    why: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "xtask: stage `{}` failed: {}", self.stage, self.why)
    }
}

impl Stage {
    /// Runs it with its output on screen and says how long it took.
    pub(crate) fn run(&self, more: &[String]) -> Result<Duration, Failure> {
        println!("==> {}: cargo {}", self.name, self.args.join(" "));
        let start = Instant::now();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        let command = command.args(self.args).args(more).envs(self.env.iter().copied());
        let failure = |why: String| Failure { stage: self.name, why };
        let status = command.status().map_err(|error| failure(error.to_string()))?;
        let took = start.elapsed();
        println!("<== {}: {status}, {:.1} s", self.name, took.as_secs_f64());
        if status.success() { Ok(took) } else { Err(failure(status.to_string())) }
    }
}
