//! `cargo run --release -p pgflow-faults -- --help`

#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use pgflow_faults::CATALOGUE;
use pgflow_faults::child::Child;
use pgflow_faults::harness::{Experiment, Outcome, Plan, Size, run_all};

const EXAMPLES: &str = "\
Examples:
  pgflow-faults                         all experiments in their short form, about a minute
  pgflow-faults --long                  the long form, about a quarter of an hour
  pgflow-faults --only X05 --seed 7     one experiment, again

Each prints a line {id, seed, verdict, metrics} on standard output. docs/faults.md
says what each shows.";

/// Harm real processes and connections, and see whether what pgflow promises holds.
#[derive(Debug, Parser)]
#[command(name = "pgflow-faults", version, after_help = EXAMPLES)]
struct Args {
    #[command(subcommand)]
    child: Option<Child>,

    /// Take the time to be sure
    #[arg(long)]
    long: bool,

    /// Repeat what another seed did [default: by the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Run only experiments whose id starts with this (repeatable)
    #[arg(long, value_name = "ID")]
    only: Vec<String>,

    /// Experiments at a time [default: 8, or 2 with --long]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Print nothing but the JSON lines
    #[arg(long)]
    json: bool,

    /// List the experiments and stop
    #[arg(long)]
    list: bool,
}

impl Args {
    fn experiments(&self) -> Vec<Experiment> {
        let is_wanted = |id: &str| {
            let starts = |only: &String| id.to_lowercase().starts_with(&only.to_lowercase());
            self.only.is_empty() || self.only.iter().any(starts)
        };
        CATALOGUE.iter().filter(|experiment| is_wanted(experiment.id)).copied().collect()
    }

    fn plan(&self, program: PathBuf) -> Plan {
        let by_clock =
            || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Plan {
            seed: self.seed.unwrap_or_else(by_clock),
            size: if self.long { Size::Long } else { Size::Short },
            jobs: self.jobs.unwrap_or(if self.long { 2 } else { 8 }),
            program,
            is_chatty: !self.json,
        }
    }
}

fn main() -> Outcome<ExitCode> {
    let args = Args::parse();
    if let Some(child) = args.child {
        return child.run();
    }
    let experiments = args.experiments();
    if args.list {
        for Experiment { id, about, .. } in experiments {
            println!("{id:<14} {about}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if experiments.is_empty() {
        return Err("no experiment has such an id: see --list".into());
    }
    let plan = args.plan(std::env::current_exe()?);
    let passed = tokio::runtime::Runtime::new()?.block_on(run_all(plan, &experiments));
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
