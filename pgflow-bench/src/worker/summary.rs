//! Medians over the rounds.

use serde::Serialize;

use super::reading::{Reading, Sample, Times};
use crate::summary::{grouped, median, spread};

/// One line of the results.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Summary {
    pub(crate) database: &'static str,
    pub(crate) case: &'static str,
    pub(crate) phase: &'static str,
    pub(crate) level: String,
    pub(crate) unit: &'static str,
    pub(crate) rounds: usize,
    pub(crate) items: u32,
    pub(crate) per_second: f64,
    /// (largest − smallest) / median of the rates.
    pub(crate) spread: f64,
    /// Rate divided by the INSERT control of the same round.
    pub(crate) to_insert: f64,
    pub(crate) own_cpu_ms: Option<f64>,
    pub(crate) server_cpu_ms: Option<f64>,
    pub(crate) times: Option<Times>,
}

/// One summary per database, case, phase and level, in order of appearance.
pub(super) fn summarize(samples: &[Sample]) -> Vec<Summary> {
    grouped(samples, key).iter().map(|group| summary(group)).collect()
}

fn key(sample: &Sample) -> (&str, &str, &str, &str) {
    (sample.database, sample.case, sample.reading.phase, &sample.reading.level)
}

fn summary(group: &[&Sample]) -> Summary {
    let (first, reading) = (group[0], &group[0].reading);
    let readings = || group.iter().map(|sample| &sample.reading);
    let rates: Vec<f64> = readings().map(Reading::per_second).collect();
    let ratio = |sample: &&Sample| sample.reading.per_second() / sample.insert_per_second.max(1e-9);
    let known = |of: fn(&Reading) -> Option<f64>| {
        readings().map(of).collect::<Option<Vec<f64>>>().map(median)
    };
    Summary {
        database: first.database,
        case: first.case,
        phase: reading.phase,
        level: reading.level.clone(),
        unit: reading.unit,
        rounds: group.len(),
        items: reading.items,
        spread: spread(&rates),
        per_second: median(rates),
        to_insert: median(group.iter().map(ratio).collect()),
        own_cpu_ms: known(Reading::own_cpu_ms),
        server_cpu_ms: known(Reading::server_cpu_ms),
        times: times(&readings().filter_map(|reading| reading.times).collect::<Vec<_>>()),
    }
}

fn times(all: &[Times]) -> Option<Times> {
    let of = |field: fn(&Times) -> f64| median(all.iter().map(field).collect());
    (!all.is_empty()).then(|| Times {
        p50_ms: of(|times| times.p50_ms),
        p99_ms: of(|times| times.p99_ms),
        max_ms: of(|times| times.max_ms),
    })
}
