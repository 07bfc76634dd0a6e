//! What the core should reach, beside what the published core was measured at.

use serde::Serialize;

use crate::flatness::{self, Flatness};
use crate::summary::Summary;
use crate::target::NATIVE;

/// One line of the comparison with the targets.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Goal {
    pub(crate) what: String,
    pub(crate) measured: String,
    /// The published core: figures of an earlier run on a busy machine, unless it says otherwise.
    pub(crate) reference: String,
    pub(crate) target: &'static str,
    /// None where there is no target.
    pub(crate) is_reached: Option<bool>,
}

/// Diamonds as client and worker drive them under load: nothing goes alone.
const BATCHED: &str = "start batched and drain";

/// The goals that this run has measured.
pub(crate) fn goals(summaries: &[Summary], flat: &[Flatness]) -> Vec<Goal> {
    let mut goals = Vec::new();
    goals.extend(find(summaries, "single", "start and drain", "").map(single));
    goals.extend(find(summaries, "single", "start and drain", "").map(single_wal));
    goals.extend(find(summaries, "diamond", BATCHED, "").map(diamond));
    goals.extend(find(summaries, "diamond", "start and drain", "").map(diamond_one_by_one));
    goals.extend(find(summaries, "diamond", "start and drain", "").map(diamond_wal));
    goals.extend(find(summaries, "start", "diamond", "").map(start_diamond));
    goals.extend(find(summaries, "start", "root map", "10000").map(start_map));
    goals.extend(
        ["1000", "10000", "50000"]
            .iter()
            .filter_map(|width| find(summaries, "map", "drain", width))
            .map(map),
    );
    goals.extend(beside_others(summaries));
    goals.extend(
        ["flat-width", "flat-waiting", "flat-history", "flat-outputs", "flat-jobs"]
            .iter()
            .filter_map(|case| worst(flat, case)),
    );
    goals.extend(crate::job_goals::goals(summaries));
    goals
}

/// Our core in its fastest protocol, which is measured first.
pub(crate) fn find<'a>(
    summaries: &'a [Summary],
    case: &str,
    phase: &str,
    level: &str,
) -> Option<&'a Summary> {
    let is_it = |summary: &&Summary| {
        summary.target == NATIVE
            && summary.case == case
            && summary.phase == phase
            && summary.level == level
    };
    summaries.iter().find(is_it)
}

pub(crate) fn rate_and_cpu(summary: &Summary) -> String {
    let cpu =
        summary.cpu_ms.map_or_else(|| "CPU unknown".to_owned(), |ms| format!("{ms:.3} ms CPU"));
    format!("{:.0}/s, {cpu}", summary.per_second)
}

pub(crate) fn at_most(value: Option<f64>, limit: f64) -> bool {
    value.is_some_and(|value| value <= limit)
}

fn single(summary: &Summary) -> Goal {
    Goal {
        what: "1-step runs, per step".to_owned(),
        measured: rate_and_cpu(summary),
        reference: "234 to 556/s".to_owned(),
        target: "",
        is_reached: None,
    }
}

fn diamond(summary: &Summary) -> Goal {
    Goal {
        what: "4-step diamonds, starts batched, per step".to_owned(),
        measured: rate_and_cpu(summary),
        reference: "147 to 462/s, 3.6 to 4.7 ms CPU".to_owned(),
        target: "1/8 of the CPU (≤ 0.45 ms) or 8 × the rate (≥ 3,696/s)",
        is_reached: Some(at_most(summary.cpu_ms, 3.6 / 8.0) || summary.per_second >= 8.0 * 462.0),
    }
}

fn diamond_one_by_one(summary: &Summary) -> Goal {
    Goal {
        what: "4-step diamonds, a transaction per start, per step".to_owned(),
        target: "",
        is_reached: None,
        ..diamond(summary)
    }
}

fn single_wal(summary: &Summary) -> Goal {
    wal("1-step runs, WAL per run", "", summary)
}

fn diamond_wal(summary: &Summary) -> Goal {
    wal("diamond, WAL per task", "5 to 8 KB", summary)
}

fn wal(what: &str, reference: &str, summary: &Summary) -> Goal {
    let without = summary.wal_bytes_without_images;
    let images = without.map_or_else(|| "unknown".to_owned(), |bytes| format!("{bytes:.0} B"));
    Goal {
        what: what.to_owned(),
        measured: format!("{images} ({:.0} B with page images)", summary.wal_bytes),
        reference: reference.to_owned(),
        target: "≤ 3 KB without page images",
        is_reached: Some(at_most(without.or(Some(summary.wal_bytes)), 3_000.0)),
    }
}

fn start_diamond(summary: &Summary) -> Goal {
    Goal {
        what: "start_flow of a diamond, per call".to_owned(),
        measured: rate_and_cpu(summary),
        reference: "2.0 to 2.8 ms CPU".to_owned(),
        target: "",
        is_reached: None,
    }
}

fn start_map(summary: &Summary) -> Goal {
    Goal {
        what: "start of a map of 10,000".to_owned(),
        measured: format!("{:.0} ms", summary.wall_ms),
        reference: String::new(),
        target: "≤ 500 ms",
        is_reached: Some(summary.wall_ms <= 500.0),
    }
}

fn map(summary: &Summary) -> Goal {
    let (reference, has_target) = match summary.level.as_str() {
        "50000" => ("67/s, 7.9 ms CPU", false),
        _ => ("91 to 382/s, 2 to 3.3 ms CPU", summary.level == "10000"),
    };
    let is_reached = at_most(summary.cpu_ms, 2.0 / 30.0) || summary.per_second >= 50.0 * 382.0;
    Goal {
        what: format!("map of {} drained{}, per task", summary.level, by(summary)),
        measured: rate_and_cpu(summary),
        reference: reference.to_owned(),
        target: if has_target {
            "1/30 of the CPU (≤ 0.067 ms) or 50 × the rate (≥ 19,100/s)"
        } else {
            ""
        },
        is_reached: has_target.then_some(is_reached),
    }
}

fn by(summary: &Summary) -> String {
    summary.batch.map_or_else(String::new, |batch| format!(" by {batch}"))
}

/// The ratios to other cores of this run, which the machine's mood touches less.
fn beside_others(summaries: &[Summary]) -> impl Iterator<Item = Goal> {
    let ours = |other: &Summary| {
        let phase = if other.case == "diamond" { BATCHED } else { other.phase };
        find(summaries, other.case, phase, &other.level)
    };
    let others = summaries.iter().filter(|summary| summary.target != NATIVE);
    others.filter_map(move |other| {
        let (target, cpu, rate) = match (other.case, other.phase, other.level.as_str()) {
            ("diamond", "start and drain", "") => ("CPU ÷ 8 or rate × 8", 8.0, 8.0),
            ("map", "drain", "10000") => ("CPU ÷ 30 or rate × 50", 30.0, 50.0),
            _ => return None,
        };
        Some(beside(ours(other)?, other, target, (cpu, rate)))
    })
}

fn beside(ours: &Summary, other: &Summary, target: &'static str, (cpu, rate): (f64, f64)) -> Goal {
    let cpu_ratio = other.cpu_ms.zip(ours.cpu_ms).map(|(other, ours)| other / ours.max(1e-9));
    let rate_ratio = ours.per_second / other.per_second.max(1e-9);
    let cpu_text =
        cpu_ratio.map_or_else(|| "CPU unknown".to_owned(), |ratio| format!("CPU ÷ {ratio:.1}"));
    Goal {
        what: format!("{} {} against {}", ours.case, ours.level, other.target),
        measured: format!("{cpu_text}, rate × {rate_ratio:.1}"),
        reference: format!("in this run: {}", rate_and_cpu(other)),
        target,
        is_reached: Some(cpu_ratio.is_some_and(|ratio| ratio >= cpu) || rate_ratio >= rate),
    }
}

/// The steepest phase of a flatness case.
fn worst(flat: &[Flatness], case: &str) -> Option<Goal> {
    let ours = flat.iter().filter(|flat| flat.counts && flat.target == NATIVE && flat.case == case);
    let steepest = ours.max_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
    let levels: Vec<&str> = steepest.levels.iter().map(|(level, _)| level.as_str()).collect();
    Some(Goal {
        what: format!("{case}: {} at {}", steepest.phase, levels.join(", ")),
        measured: format!("{:.2} × (growth {:.2} ×)", steepest.ratio, steepest.growth),
        reference: String::new(),
        target: "≤ 1.5 ×",
        is_reached: Some(steepest.ratio <= flatness::TARGET),
    })
}
