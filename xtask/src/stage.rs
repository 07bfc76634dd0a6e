//! Something that has to succeed, with a name and a clock.

use std::fmt;
use std::time::{Duration, Instant};

use crate::cargo::cargo;
use crate::{marks, provision, suites};

/// A part of `cargo xtask test`.
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
}

/// What a stage does.
pub(crate) enum Work {
    /// A cargo command.
    Cargo { args: &'static [&'static str], env: &'static [(&'static str, &'static str)] },
    /// Installs what is missing on the machine.
    Provision,
    /// Looks for what an unfinished merge leaves behind.
    Marks,
    /// All test binaries of the workspace.
    TestBinaries,
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
    /// A stage that is one cargo command.
    pub(crate) const fn cargo(name: &'static str, args: &'static [&'static str]) -> Self {
        Self { name, work: Work::Cargo { args, env: &[] } }
    }

    /// Runs it and says how long it took.
    pub(crate) fn run(&self, test_args: &[String]) -> Result<Duration, Failure> {
        let done = match self.work {
            Work::Cargo { args, env } => self.cargo_command(args, env),
            Work::Provision => provision::stage(),
            Work::Marks => marks::stage(),
            Work::TestBinaries => suites::run_all(test_args),
        };
        done.map_err(|why| Failure { stage: self.name, why })
    }

    fn cargo_command(&self, args: &[&str], env: &[(&str, &str)]) -> Result<Duration, String> {
        println!("==> {}: cargo {}", self.name, args.join(" "));
        let start = Instant::now();
        let mut command = cargo();
        let command = command.args(args).envs(env.iter().copied());
        let status = command.status().map_err(|error| error.to_string())?;
        let took = start.elapsed();
        println!("<== {}: {status}, {:.1} s", self.name, took.as_secs_f64());
        if status.success() { Ok(took) } else { Err(status.to_string()) }
    }
}
