//! All experiments in their short form; words on the command line select some.

use std::path::PathBuf;
use std::process::ExitCode;

use pgflow_faults::CATALOGUE;
use pgflow_faults::harness::{Experiment, Plan, Size, run_all};

/// Experiments mostly wait.
const JOBS: usize = 6;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let filters: Vec<_> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |id: &str| {
        let has = |filter: &&String| id.to_lowercase().contains(&filter.to_lowercase());
        filters.is_empty() || filters.iter().any(has)
    };
    let wanted: Vec<Experiment> =
        CATALOGUE.iter().filter(|experiment| is_wanted(experiment.id)).copied().collect();
    if words.iter().any(|word| word == "--list") {
        for Experiment { id, .. } in wanted {
            println!("{id}: test");
        }
        return ExitCode::SUCCESS;
    }
    run(&wanted)
}

fn run(experiments: &[Experiment]) -> ExitCode {
    let plan = Plan {
        seed: seed(),
        size: Size::Short,
        jobs: JOBS,
        program: PathBuf::from(env!("CARGO_BIN_EXE_pgflow-faults")),
        is_chatty: false,
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let passed = runtime.block_on(run_all(plan, experiments));
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// `PGFLOW_FAULTS_SEED`, or the time; every line shows it.
fn seed() -> u64 {
    let given = std::env::var("PGFLOW_FAULTS_SEED").ok();
    let given = given.map(|seed| seed.parse().expect("PGFLOW_FAULTS_SEED is a number"));
    given.unwrap_or_else(|| std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs())
}
