//! One measured figure.

use std::time::Duration;

use serde::Serialize;

use super::place::Spent;

/// What a case measured in one phase.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Reading {
    pub(crate) phase: &'static str,
    /// Width of a map; empty elsewhere.
    pub(crate) level: String,
    pub(crate) unit: &'static str,
    pub(crate) items: u32,
    #[serde(flatten)]
    pub(crate) spent: Spent,
    /// Where items were timed one by one.
    pub(crate) times: Option<Times>,
}

/// How long each of many took, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "in JSON the unit must be in the name")]
pub(crate) struct Times {
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
}

/// A reading with its place in the run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sample {
    pub(crate) database: &'static str,
    pub(crate) case: &'static str,
    pub(crate) round: u32,
    /// The INSERT control just before, rows per second.
    pub(crate) insert_per_second: f64,
    /// Load average of the machine at that time.
    pub(crate) load: String,
    #[serde(flatten)]
    pub(crate) reading: Reading,
}

impl Reading {
    pub(super) fn new(phase: &'static str, unit: &'static str, items: u32, spent: Spent) -> Self {
        Self { phase, level: String::new(), unit, items, spent, times: None }
    }

    /// Of items that were timed one by one.
    pub(super) fn of_times(phase: &'static str, unit: &'static str, times: &[Duration]) -> Self {
        let wall_s = times.iter().sum::<Duration>().as_secs_f64();
        let spent = Spent { wall_s, own_cpu_s: None, server_cpu_s: None };
        let items = u32::try_from(times.len()).unwrap_or(u32::MAX);
        Self { times: Times::of(times), ..Self::new(phase, unit, items, spent) }
    }

    pub(super) fn at(self, level: u32) -> Self {
        Self { level: level.to_string(), ..self }
    }

    pub(crate) fn per_second(&self) -> f64 {
        f64::from(self.items) / self.spent.wall_s.max(1e-9)
    }

    pub(crate) fn own_cpu_ms(&self) -> Option<f64> {
        self.spent.own_cpu_s.map(|seconds| self.each(seconds))
    }

    pub(crate) fn server_cpu_ms(&self) -> Option<f64> {
        self.spent.server_cpu_s.map(|seconds| self.each(seconds))
    }

    fn each(&self, seconds: f64) -> f64 {
        seconds * 1e3 / f64::from(self.items.max(1))
    }
}

impl Spent {
    /// The same share of everything.
    pub(super) fn scaled(self, share: f64) -> Self {
        Self {
            wall_s: self.wall_s * share,
            own_cpu_s: self.own_cpu_s.map(|seconds| seconds * share),
            server_cpu_s: self.server_cpu_s.map(|seconds| seconds * share),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let sum = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
        Self {
            wall_s: self.wall_s + other.wall_s,
            own_cpu_s: sum(self.own_cpu_s, other.own_cpu_s),
            server_cpu_s: sum(self.server_cpu_s, other.server_cpu_s),
        }
    }
}

impl Times {
    /// None of nothing.
    pub(super) fn of(times: &[Duration]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let at = |percent: usize| {
            let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
            sorted.get(place).map(|time| time.as_secs_f64() * 1e3)
        };
        Some(Self { p50_ms: at(50)?, p99_ms: at(99)?, max_ms: at(100)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let times: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
        let expected = Times { p50_ms: 100.0, p99_ms: 198.0, max_ms: 200.0 };
        assert_eq!(Times::of(&times), Some(expected));
        assert_eq!(Times::of(&times[..1]).map(|times| times.p50_ms), Some(200.0));
        assert_eq!(Times::of(&[]), None);
    }
}
