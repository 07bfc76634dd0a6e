//! `cargo xtask fresh`: the two commands of the README where nothing is installed.
//!
//! A bare Debian root with what the README asks for (a Rust toolchain, a C compiler, the certificates that
//! downloads need) and a fresh clone of HEAD in it. Everything else, crates and servers, has to come by itself.

mod error;
mod host;
mod root;

use std::time::Instant;

use clap::{Args, ValueEnum};

pub(crate) use error::Error;
use root::Root;

/// Needs root, debootstrap and about 15 GB below the directory for temporary files (`TMPDIR`).
#[derive(Args)]
pub(crate) struct Options {
    /// Only these (repeatable).
    #[arg(long, value_name = "PART")]
    only: Vec<Part>,

    /// Leave the root where it is, to look around.
    #[arg(long)]
    keep: bool,

    /// What follows `--` goes to `cargo xtask test`.
    #[arg(last = true, value_name = "TEST OPTIONS")]
    test_args: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// `cargo run --example quickstart`
    Run,
    /// `cargo xtask provision`, twice at the same time; only when asked for
    Provision,
    /// `cargo xtask test`
    Test,
}

impl Part {
    fn command(self, options: &Options) -> String {
        match self {
            Self::Run => "cargo run --example quickstart".into(),
            Self::Provision => "cargo xtask provision --help >/dev/null && {\n\
                 cargo xtask provision & first=$!\n\
                 cargo xtask provision && wait $first; }"
                .into(),
            Self::Test if options.test_args.is_empty() => "cargo xtask test".into(),
            Self::Test => format!("cargo xtask test {}", options.test_args.join(" ")),
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let parts = if options.only.is_empty() { &[Part::Run, Part::Test] } else { &*options.only };
    host::check()?;
    if parts != [Part::Run] {
        host::check_rust_analyzer(&host::toolchain()?)?;
    }
    let root = Root::create(options.keep)?;
    let mut summary = Vec::new();
    for part in parts {
        let command = part.command(options);
        let start = Instant::now();
        root.run(&command)?;
        summary.push(format!("`{command}` {:.0} s", start.elapsed().as_secs_f64()));
    }
    println!("in a bare {} root, from a fresh clone of {}:", root.release, root.commit);
    println!("{}", summary.join(", "));
    Ok(())
}
