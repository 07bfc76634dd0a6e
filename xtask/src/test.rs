//! `cargo xtask test`: everything that has to hold before a change goes in.

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::stage::{Failure, Stage, Work};

/// Stages run in this order, the cheap ones first, and the first that fails is the last.
const STAGES: &[Stage] = &[
    // Tests only find; and what is missing is said before anything is built.
    Stage { name: "provision", work: Work::Provision },
    Stage { name: "marks", work: Work::Marks },
    Stage::cargo("format", &["fmt", "--all", "--check"]),
    // Before anything builds the examples, since that writes what is missing.
    Stage::cargo("migrations", &["pgflow", "check", "--workspace"]),
    Stage::cargo("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    Stage::cargo("packages", &["xtask", "packages"]),
    Stage { name: "tests", work: Work::TestBinaries },
    Stage::cargo("doctests", &["test", "--workspace", "--doc"]),
    // A build of its own, since features of all crates in one build unite.
    Stage::cargo(
        "tls",
        &["test", "-p", "pgflow-postgres-backend-tests", "--features", "tls", "--test", "tls"],
    ),
    // A sample of them; all are a command of their own: `cargo xtask mutants`.
    Stage::cargo("mutants", &["xtask", "mutants", "--short"]),
    Stage {
        name: "docs",
        work: Work::Cargo {
            args: &["doc", "--workspace", "--no-deps"],
            env: &[("RUSTDOCFLAGS", "-D warnings")],
        },
    },
];

/// Tests use real servers; see `pgflow-test-support` for variables that choose others.
#[derive(Args)]
pub(crate) struct Options {
    /// Run only these stages.
    #[arg(long, value_name = "STAGE", value_parser = PossibleValuesParser::new(STAGES.iter().map(|stage| stage.name)))]
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
        let took = stage.run(&options.test_args)?;
        summary.push(format!("{} {:.1} s", stage.name, took.as_secs_f64()));
    }
    println!("all stages passed: {}", summary.join(", "));
    Ok(())
}
