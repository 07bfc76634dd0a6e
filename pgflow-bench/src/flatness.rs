//! How much the cost per task grows with width, backlog and history.

use serde::Serialize;

use crate::args::Protocol;
use crate::summary::Summary;

/// What the core aims at: the dearest level costs at most this many times the cheapest.
pub(crate) const TARGET: f64 = 1.5;

/// The phase of `flat-width` that includes what a run's start costs without any task.
pub(crate) const WITH_START: &str = "start and spawn";

/// One phase of a flatness case over all its levels.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Flatness {
    pub(crate) case: &'static str,
    pub(crate) phase: &'static str,
    pub(crate) target: String,
    pub(crate) protocol: Option<Protocol>,
    /// Level and milliseconds per task.
    pub(crate) levels: Vec<(String, f64)>,
    /// Largest over smallest.
    pub(crate) ratio: f64,
    /// The most that a level costs over any level before it. Below `ratio` where costs fall,
    /// as they do when a fixed cost is spread over more tasks.
    pub(crate) growth: f64,
    /// False for levels that are interesting but have no target.
    pub(crate) counts: bool,
}

/// All phases of all flatness cases. Server CPU where it is known, else time on the clock.
pub(crate) fn flatness(summaries: &[Summary]) -> Vec<Flatness> {
    let mut found: Vec<Flatness> = Vec::new();
    for summary in summaries.iter().filter(|summary| summary.case.starts_with("flat-")) {
        let shown_only = is_shown_only(summary);
        let cost = summary.cpu_ms.unwrap_or(summary.wall_ms);
        let same = |flat: &&mut Flatness| {
            flat.counts != shown_only
                && flat.case == summary.case
                && flat.phase == summary.phase
                && flat.target == summary.target
                && flat.protocol == summary.protocol
        };
        match found.iter_mut().find(same) {
            Some(flat) => flat.add(&summary.level, cost),
            None => found.push(Flatness::start(summary, base(summaries, summary), cost)),
        }
    }
    found
}

/// Levels and phases without a target: delayed messages, and starts whose fixed part is spread over
/// ever more tasks.
fn is_shown_only(summary: &Summary) -> bool {
    summary.level.ends_with("delayed") || summary.phase == WITH_START
}

/// Delayed messages are compared with the empty queue of the same phase.
fn base<'a>(summaries: &'a [Summary], of: &Summary) -> Option<&'a Summary> {
    let is_base = |other: &&Summary| {
        other.case == of.case
            && other.phase == of.phase
            && other.target == of.target
            && other.level.starts_with("0 ")
    };
    summaries.iter().filter(|_| of.level.ends_with("delayed")).find(is_base)
}

impl Flatness {
    fn start(summary: &Summary, base: Option<&Summary>, cost: f64) -> Self {
        let mut flat = Self {
            case: summary.case,
            phase: summary.phase,
            target: summary.target.clone(),
            protocol: summary.protocol,
            levels: Vec::new(),
            ratio: 1.0,
            growth: 1.0,
            counts: !is_shown_only(summary),
        };
        if let Some(base) = base {
            flat.add(&base.level, base.cpu_ms.unwrap_or(base.wall_ms));
        }
        flat.add(&summary.level, cost);
        flat
    }

    fn add(&mut self, level: &str, cost: f64) {
        for (_, before) in &self.levels {
            self.growth = self.growth.max(cost / before.max(1e-9));
        }
        self.levels.push((level.to_owned(), cost));
        let costs = self.levels.iter().map(|(_, cost)| *cost);
        let (smallest, largest) =
            costs.fold((f64::MAX, f64::MIN), |(low, high), cost| (low.min(cost), high.max(cost)));
        self.ratio = largest / smallest.max(1e-9);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(level: &str, cpu_ms: f64) -> Summary {
        Summary {
            case: "flat-waiting",
            phase: "claim",
            level: level.to_owned(),
            target: "pgflow".to_owned(),
            protocol: None,
            batch: None,
            unit: "task",
            rounds: 1,
            items: 1,
            per_second: 1.0,
            spread: 0.0,
            to_insert: 1.0,
            wall_ms: 1.0,
            cpu_ms: Some(cpu_ms),
            cpu_to_insert: None,
            wal_bytes: 0.0,
            wal_bytes_without_images: None,
        }
    }

    #[test]
    fn falling_costs_are_no_growth() {
        let found = flatness(&[summary("1", 4.0), summary("10", 2.0), summary("100", 2.2)]);
        assert!((found[0].ratio - 2.0).abs() < 1e-9);
        assert!((found[0].growth - 1.1).abs() < 1e-9);
    }

    #[test]
    fn starts_are_shown_without_a_target() {
        let start = Summary { phase: WITH_START, ..summary("100", 3.0) };
        let found = flatness(&[start, summary("100", 1.0)]);
        assert_eq!(found.iter().map(|flat| flat.counts).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn delayed_messages_are_a_line_of_their_own() {
        let found = flatness(&[
            summary("0 waiting", 1.0),
            summary("9 waiting", 1.2),
            summary("9 delayed", 4.0),
        ]);
        let ratios: Vec<(bool, f64)> = found.iter().map(|flat| (flat.counts, flat.ratio)).collect();
        assert_eq!(ratios, [(true, 1.2), (false, 4.0)]);
    }
}
