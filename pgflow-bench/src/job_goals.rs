//! What jobs should reach, beside what the published pgwf was measured at.

use crate::cases::{CLAIMS, EMPTY};
use crate::flatness;
use crate::goals::{Goal, at_most, find, rate_and_cpu};
use crate::summary::Summary;
use crate::target::NATIVE;

/// The goals about jobs that this run has measured.
pub(crate) fn goals(summaries: &[Summary]) -> Vec<Goal> {
    let case = |case: &'static str| summaries.iter().filter(move |summary| summary.case == case);
    let mut goals = Vec::new();
    goals.extend(find(summaries, "jobs-submit", "one by one", "").map(one_by_one));
    goals.extend(case("jobs-submit").find(|s| s.phase == "in batches").map(batched));
    goals.extend(case("flat-jobs").next().map(cycle));
    goals.extend(empty(summaries));
    goals.extend(join(&case("jobs-join").collect::<Vec<_>>()));
    goals.extend(case("jobs-submit").filter_map(|other| as_fast(summaries, other)));
    goals
}

/// Submitting, in our fastest way, beside another core of this run.
fn as_fast(summaries: &[Summary], other: &Summary) -> Option<Goal> {
    if other.target == NATIVE {
        return None;
    }
    let ours = find(summaries, other.case, other.phase, &other.level)?;
    let ratio = ours.per_second / other.per_second.max(1e-9);
    Some(Goal {
        what: format!("jobs submitted {} against {}", other.phase, other.target),
        measured: format!("rate × {ratio:.2}: {}", rate_and_cpu(ours)),
        reference: format!("in this run: {}", rate_and_cpu(other)),
        target: "≥ as fast",
        is_reached: Some(ratio >= 1.0),
    })
}

fn one_by_one(summary: &Summary) -> Goal {
    let bytes = summary.wal_bytes_without_images.unwrap_or(summary.wal_bytes);
    Goal {
        what: "jobs submitted one by one".to_owned(),
        measured: format!("{}, {bytes:.0} B of WAL", rate_and_cpu(summary)),
        reference: "1,900 to 2,250/s, 0.21 ms CPU, 797 B".to_owned(),
        target: "≤ 450 B of WAL without page images",
        is_reached: Some(bytes <= 450.0),
    }
}

fn batched(summary: &Summary) -> Goal {
    Goal {
        what: format!("jobs submitted {}", summary.level),
        measured: rate_and_cpu(summary),
        reference: "9,800/s, 0.06 ms CPU".to_owned(),
        target: "≤ 0.02 ms CPU",
        is_reached: Some(at_most(summary.cpu_ms, 0.02)),
    }
}

fn cycle(summary: &Summary) -> Goal {
    Goal {
        what: format!("jobs claimed, finished, submitted, {}", summary.level),
        measured: rate_and_cpu(summary),
        reference: "290 to 790/s, 0.5 to 3.8 ms CPU; 3 to 9/s with 200,000".to_owned(),
        target: "≤ 0.2 ms CPU",
        is_reached: Some(at_most(summary.cpu_ms, 0.2)),
    }
}

fn empty(summaries: &[Summary]) -> Option<Goal> {
    let claims = find(summaries, "jobs-empty", CLAIMS, "")?;
    let empty = find(summaries, "jobs-empty", EMPTY, "")?;
    let what = "claims that come back empty although there are jobs".to_owned();
    Some(Goal { reference: "43 %".to_owned(), ..false_empty(what, claims.items, empty.items) })
}

pub(crate) fn false_empty(what: String, claims: u32, empty: u32) -> Goal {
    let share = f64::from(empty) / f64::from(claims.max(1));
    Goal {
        what,
        measured: format!("{:.1} % ({empty} of {claims})", share * 100.0),
        reference: String::new(),
        target: "< 1 %",
        is_reached: Some(share < 0.01),
    }
}

/// The widest join, and what a child of it costs over one of the narrowest.
fn join(levels: &[&Summary]) -> Option<Goal> {
    let (narrow, wide) = (
        levels.first()?,
        levels
            .iter()
            .rfind(|s| s.target == levels[0].target && s.protocol == levels[0].protocol)?,
    );
    let growth = wide.cpu_ms.zip(narrow.cpu_ms).map(|(wide, narrow)| wide / narrow.max(1e-9));
    Some(Goal {
        what: format!("join of {}, per child", wide.level),
        measured: format!(
            "{}, {:.2} × that of {}",
            rate_and_cpu(wide),
            growth.unwrap_or(f64::NAN),
            narrow.level
        ),
        reference: "quadratic".to_owned(),
        target: "≤ 1 ms CPU, linear (≤ 1.5 ×)",
        is_reached: Some(at_most(wide.cpu_ms, 1.0) && at_most(growth, flatness::TARGET)),
    })
}
