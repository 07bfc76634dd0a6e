//! Random flows under random commands: what must hold after every transition, whatever happens.

mod flows;
mod invariants;
mod model;
mod numbers;

use model::Model;
use numbers::Numbers;
use pgflow_machine::RunStatus;

/// Enough to meet every combination of two policies many times.
const SEEDS: u64 = 4_000;

#[test]
fn counters_and_events_agree_and_every_run_ends() {
    let mut ends = std::collections::BTreeMap::<_, u32>::new();
    for seed in 0..SEEDS {
        let mut numbers = Numbers::new(seed);
        let Some(mut model) = Model::start(&mut numbers, seed) else { continue };
        for _ in 0..60 {
            model.step(&mut numbers);
        }
        model.drain(&mut numbers);
        *ends.entry(model.run.status).or_default() += 1;
    }
    for status in [RunStatus::Completed, RunStatus::Failed, RunStatus::Cancelled] {
        assert!(ends.get(&status).is_some_and(|runs| *runs > 50), "too few {status}: {ends:?}");
    }
}

#[test]
fn the_same_commands_lead_to_the_same_log() {
    let log = |seed| {
        let mut numbers = Numbers::new(seed);
        let mut model = Model::start(&mut numbers, seed)?;
        model.drain(&mut numbers);
        Some(model.log)
    };
    for seed in 0..200 {
        assert_eq!(log(seed), log(seed));
    }
}
