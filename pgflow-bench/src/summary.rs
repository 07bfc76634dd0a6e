//! Medians over the rounds.

use serde::Serialize;

use crate::args::Protocol;
use crate::sample::{Reading, Sample};

/// One line of the results.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Summary {
    pub(crate) case: &'static str,
    pub(crate) phase: &'static str,
    pub(crate) level: String,
    pub(crate) target: String,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) batch: Option<u32>,
    pub(crate) unit: &'static str,
    pub(crate) rounds: usize,
    pub(crate) items: u32,
    pub(crate) per_second: f64,
    /// (largest − smallest) / median of the rates.
    pub(crate) spread: f64,
    /// Rate divided by the INSERT control of the same round.
    pub(crate) to_insert: f64,
    pub(crate) wall_ms: f64,
    pub(crate) cpu_ms: Option<f64>,
    /// CPU divided by that of a row of the INSERT control in the same round.
    pub(crate) cpu_to_insert: Option<f64>,
    pub(crate) wal_bytes: f64,
    pub(crate) wal_bytes_without_images: Option<f64>,
}

/// One summary per case, phase, level, target and protocol, in order of appearance.
pub(crate) fn summarize(samples: &[Sample]) -> Vec<Summary> {
    grouped(samples, key).iter().map(|group| summary(group)).collect()
}

/// Samples that have the same key, in order of appearance.
pub(crate) fn grouped<'a, S, K: PartialEq>(
    samples: &'a [S],
    key: fn(&'a S) -> K,
) -> Vec<Vec<&'a S>> {
    let mut groups: Vec<Vec<&'a S>> = Vec::new();
    for sample in samples {
        match groups.iter_mut().find(|group| key(group[0]) == key(sample)) {
            Some(group) => group.push(sample),
            None => groups.push(vec![sample]),
        }
    }
    groups
}

fn key(sample: &Sample) -> (&str, &str, &str, &str, Option<Protocol>) {
    let Reading { phase, level, .. } = &sample.reading;
    (sample.case, phase, level, &sample.target, sample.protocol)
}

fn summary(group: &[&Sample]) -> Summary {
    let first = group[0];
    let middle =
        |of: fn(&Reading) -> f64| median(group.iter().map(|sample| of(&sample.reading)).collect());
    let rates: Vec<f64> = group.iter().map(|sample| sample.reading.per_second()).collect();
    let known = |of: fn(&Reading) -> Option<f64>| {
        group.iter().map(|sample| of(&sample.reading)).collect::<Option<Vec<f64>>>().map(median)
    };
    Summary {
        case: first.case,
        phase: first.reading.phase,
        level: first.reading.level.clone(),
        target: first.target.clone(),
        protocol: first.protocol,
        batch: first.batch,
        unit: first.reading.unit,
        rounds: group.len(),
        items: first.reading.items,
        per_second: median(rates.clone()),
        spread: spread(&rates),
        to_insert: median(
            group
                .iter()
                .map(|sample| sample.reading.per_second() / sample.insert_per_second)
                .collect(),
        ),
        wall_ms: middle(Reading::wall_ms),
        cpu_ms: known(Reading::cpu_ms),
        cpu_to_insert: group
            .iter()
            .map(|sample| cpu_to_insert(sample))
            .collect::<Option<_>>()
            .map(median),
        wal_bytes: middle(Reading::wal_bytes),
        wal_bytes_without_images: known(Reading::wal_bytes_without_images),
    }
}

fn cpu_to_insert(sample: &Sample) -> Option<f64> {
    Some(sample.reading.cpu_ms()? / sample.insert_cpu_ms?.max(1e-9))
}

/// The value in the middle, or between the two in the middle; 0 of nothing.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// How far apart the values are, as a share of the median.
pub(crate) fn spread(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    let smallest = values.iter().copied().fold(f64::MAX, f64::min);
    match median(values.to_vec()) {
        middle if middle > 0.0 => (largest - smallest) / middle,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_an_outlier() {
        assert!((median(vec![9000.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(vec![1.0, 3.0]) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_spread_is_relative_to_the_median() {
        assert!((spread(&[90.0, 100.0, 120.0]) - 0.3).abs() < 1e-9);
    }
}
