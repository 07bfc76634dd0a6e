//! `cargo xtask test`: everything that has to hold before a change goes in.

use clap::Args;

use crate::stage::{Failure, Stage};

/// Stages run in this order, the cheap ones first, and the first that fails is the last.
const STAGES: &[Stage] = &[
    Stage { name: "format", args: &["fmt", "--all", "--check"], env: &[] },
    // Before anything builds the examples, since that writes what is missing.
    Stage { name: "migrations", args: &["pgflow", "check", "--workspace"], env: &[] },
    Stage {
        name: "lints",
        args: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        env: &[],
    },
    Stage { name: "tests", args: &["test", "--workspace"], env: &[] },
    // A sample of them; all are a command of their own: `cargo xtask mutants`.
    Stage { name: "mutants", args: &["xtask", "mutants", "--short"], env: &[] },
    Stage {
        name: "docs",
        args: &["doc", "--workspace", "--no-deps"],
        env: &[("RUSTDOCFLAGS", "-D warnings")],
    },
];

/// Tests find a Postgres, or install one, by themselves; see `pgflow-test-support`.
#[derive(Args)]
pub(crate) struct Options {
    /// Run only these stages.
    #[arg(long, value_name = "STAGE", value_parser = ["format", "migrations", "lints", "tests", "mutants", "docs"])]
    only: Vec<String>,

    /// What follows `--` goes to the test binaries.
    #[arg(last = true, value_name = "TEST ARGS")]
    test_args: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let is_wanted =
        |stage: &&Stage| options.only.is_empty() || options.only.iter().any(|o| o == stage.name);
    let mut summary = Vec::new();
    for stage in STAGES.iter().filter(is_wanted) {
        let took = stage.run(&arguments(stage, options))?;
        summary.push(format!("{} {:.1} s", stage.name, took.as_secs_f64()));
    }
    println!("all stages passed: {}", summary.join(", "));
    Ok(())
}

fn arguments(stage: &Stage, options: &Options) -> Vec<String> {
    if stage.name != "tests" || options.test_args.is_empty() {
        return Vec::new();
    }
    std::iter::once("--".to_owned()).chain(options.test_args.iter().cloned()).collect()
}
