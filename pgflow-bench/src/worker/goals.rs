//! What workers should reach. Figures of others were measured side by side earlier, on a machine whose
//! INSERT control ran at 1,600 to 11,000 rows/s as its load changed.

use super::fair;
use super::pipelines::{BATCHED, BEHIND, IDLE, PROCESSED, PUSHED, SCATTERED, TASKS};
use super::summary::Summary;
use super::waiters;
use crate::cases::{CLAIMS, EMPTY};
use crate::flatness;
use crate::goals::Goal;
use crate::job_goals::false_empty;

/// dbos at its slow end, over the control at its slow end; times three. At the fast end it is a third of this.
const CHAINS_TO_INSERT: f64 = 3.0 * 246.0 / 1_600.0;
/// Three times dbos at its fast end.
const CHAINS: f64 = 3.0 * 594.0;

/// The goals that this run has measured.
pub(super) fn goals(summaries: &[Summary]) -> Vec<Goal> {
    let fair = ["postgres", "sqlite", "mysql"]
        .into_iter()
        .flat_map(|database| fairness(summaries, database));
    let jobs = ["postgres", "sqlite", "mysql"].into_iter().filter_map(|name| jobs(summaries, name));
    let lines = ["postgres", "sqlite", "mysql"].into_iter().flat_map(|name| lines(summaries, name));
    let jobs = jobs.chain(lines);
    let pipelines =
        ["postgres", "sqlite", "mysql"].into_iter().flat_map(|name| pipelines(summaries, name));
    let flat = ["postgres", "sqlite", "mysql"].into_iter().filter_map(|name| flat(summaries, name));
    let waiters =
        ["postgres", "sqlite", "mysql"].into_iter().filter_map(|name| waiters(summaries, name));
    let all = summaries.iter().filter_map(goal).chain(fair).chain(jobs);
    all.chain(pipelines).chain(flat).chain(waiters).collect()
}

/// What a task of the widest map costs over one of the narrowest. Only a long run has one of 100,000.
fn flat(summaries: &[Summary], database: &str) -> Option<Goal> {
    let is_it =
        |it: &&Summary| (it.database, it.case, it.phase) == (database, "worker-map", "drain");
    let rate = |level: &str| {
        let of_width = |it: &&Summary| it.level == level;
        summaries.iter().filter(is_it).find(of_width).map(|it| it.per_second)
    };
    let (narrow, wide) = (rate("1000")?, rate("100000")?);
    Some(Goal {
        what: format!("{database} worker-map of 100,000"),
        measured: format!("{:.2} × the time per task of 1,000; {wide:.0}/s", narrow / wide),
        reference: String::new(),
        target: "≤ 2 ×",
        is_reached: Some(narrow <= 2.0 * wide),
    })
}

/// What a run costs while hundreds wait for others.
fn waiters(summaries: &[Summary], database: &str) -> Option<Goal> {
    let of = |phase: &str| {
        let is_it = |it: &&Summary| {
            it.database == database && it.case == "worker-waiters" && it.phase == phase
        };
        summaries.iter().find(is_it)
    };
    let (alone, waited) = (of(waiters::ALONE)?, of(waiters::WAITED)?);
    let ratio = alone.per_second / waited.per_second;
    Some(Goal {
        what: format!("{database} worker-waiters"),
        measured: format!(
            "{ratio:.2} × the time: {:.0} and {:.0} runs/s",
            alone.per_second, waited.per_second
        ),
        reference: String::new(),
        target: "≤ 1.3 ×",
        is_reached: Some(ratio <= 1.3),
    })
}

/// What a message costs over a task of a map, and over one that nothing is in front of.
fn pipelines(summaries: &[Summary], database: &str) -> Vec<Goal> {
    let rate = |phase: &str| {
        let is_it = |it: &&Summary| {
            it.database == database && it.case == "worker-pipelines" && it.phase == phase
        };
        summaries.iter().find(is_it).map(|it| it.per_second)
    };
    let ratio = |what: &str, of: &str, to: &str, target: &'static str, most: f64| {
        let (of, to) = (rate(of)?, rate(to)?);
        Some(Goal {
            what: format!("{database} worker-pipelines {what}"),
            measured: format!("{:.2} × the time; {of:.0}/s, {to:.0}/s", to / of),
            reference: String::new(),
            target,
            is_reached: Some(to / of <= most),
        })
    };
    let process = ratio("message over map task", PROCESSED, TASKS, "≤ 1.3 ×", 1.3);
    let behind = ratio("behind a full resource", BEHIND, PROCESSED, "≤ 2 ×", 2.0);
    process.into_iter().chain(behind).chain(scattered(summaries, database)).collect()
}

/// What a message costs in a batch whose key is scattered over many, over one among few.
fn scattered(summaries: &[Summary], database: &str) -> Option<Goal> {
    let is_it = |it: &&Summary| {
        (it.database, it.case, it.phase) == (database, "worker-pipelines", SCATTERED)
    };
    let mut of_it = summaries.iter().filter(is_it);
    let (first, last) = (of_it.next()?, of_it.next_back()?);
    let time = first.per_second / last.per_second.max(1e-9);
    Some(Goal {
        what: format!("{database} worker-pipelines, {} scattered over {}", last.level, first.level),
        measured: format!("{time:.2} × the time; {:.0}/s", last.per_second),
        reference: String::new(),
        target: "≤ 1.5 ×",
        is_reached: Some(time <= flatness::TARGET),
    })
}

/// What a job costs over a task of a map, through the same worker.
fn jobs(summaries: &[Summary], database: &str) -> Option<Goal> {
    let of = |phase: &str| {
        let is_it = |it: &&Summary| {
            it.database == database && it.case == "worker-jobs" && it.phase == phase
        };
        summaries.iter().find(is_it)
    };
    let (tasks, jobs) = (of(super::jobs::TASKS)?, of(super::jobs::JOBS)?);
    let cpu = |it: &Summary| Some(it.own_cpu_ms? + it.server_cpu_ms.unwrap_or(0.0));
    let cpu = cpu(jobs).zip(cpu(tasks)).map(|(jobs, tasks)| jobs / tasks);
    let time = tasks.per_second / jobs.per_second;
    let cpu = cpu.map_or_else(String::new, |cpu| format!(", {cpu:.2} × the CPU"));
    Some(Goal {
        what: format!("{database} worker-jobs"),
        measured: format!("{time:.2} × the time of a map task{cpu}; {:.0} jobs/s", jobs.per_second),
        reference: String::new(),
        target: "≤ 1.3 ×",
        is_reached: Some(time <= 1.3),
    })
}

/// What many jobs in line cost, and many that one other waits for; and claims that come back empty.
fn lines(summaries: &[Summary], database: &str) -> Vec<Goal> {
    let of = |case: &'static str, phase: &'static str| {
        let is_it =
            move |it: &&Summary| it.database == database && it.case == case && it.phase == phase;
        summaries.iter().filter(is_it)
    };
    let grown = |case: &'static str, phase: &'static str| {
        let (first, last) = (of(case, phase).next()?, of(case, phase).next_back()?);
        let time = first.per_second / last.per_second.max(1e-9);
        Some(Goal {
            what: format!("{database} {case}, {} over {}", last.level, first.level),
            measured: format!("{time:.2} × the time; {:.0}/s{}", last.per_second, cpu(last)),
            reference: String::new(),
            target: "≤ 1.5 ×",
            is_reached: Some(time <= flatness::TARGET),
        })
    };
    let empty = || {
        let case = "worker-jobs-empty";
        let (claims, empty) = (of(case, CLAIMS).next()?, of(case, EMPTY).next()?);
        Some(false_empty(format!("{database} {case}"), claims.items, empty.items))
    };
    let grown = [
        grown("worker-jobs-cycle", super::job_lines::CYCLE),
        grown("worker-jobs-join", super::job_lines::JOIN),
    ];
    grown.into_iter().flatten().chain(empty()).collect()
}

fn cpu(summary: &Summary) -> String {
    let all = summary.own_cpu_ms.map(|own| own + summary.server_cpu_ms.unwrap_or(0.0));
    all.map_or_else(String::new, |ms| format!(", {ms:.3} ms CPU"))
}

/// What becomes of a small run behind a wide map, and what that costs.
fn fairness(summaries: &[Summary], database: &str) -> Vec<Goal> {
    let of = |phase: &str| {
        let is_it = |it: &&Summary| {
            it.database == database && it.case == "worker-fair" && it.phase == phase
        };
        summaries.iter().find(is_it)
    };
    let p50 = |phase| of(phase).and_then(|it| it.times).map(|times| times.p50_ms);
    // The CPU of client and server together, for all items.
    let cpu = |phase| {
        let it = of(phase)?;
        Some(f64::from(it.items) * (it.own_cpu_ms? + it.server_cpu_ms.unwrap_or(0.0)))
    };
    let latency = p50(fair::BEHIND).zip(p50(fair::IDLE)).map(|(behind, idle)| Goal {
        what: format!("{database} worker-fair small run"),
        measured: format!("{:.1} × idle: {behind:.1} ms, {idle:.1} ms", behind / idle),
        reference: String::new(),
        target: "≤ 5 × idle",
        is_reached: Some(behind <= 5.0 * idle),
    });
    let cost = || {
        let (both, alone, small) = (cpu(fair::BOTH)?, cpu(fair::ALONE)?, cpu(fair::SMALL)?);
        let each = small / f64::from(of(fair::SMALL)?.items);
        let apart = alone + each * f64::from(of(fair::BEHIND)?.items);
        Some(Goal {
            what: format!("{database} worker-fair cost"),
            measured: format!("{:.2} × the CPU of both apart", both / apart),
            reference: String::new(),
            target: "≤ 1.1 ×",
            is_reached: Some(both <= 1.1 * apart),
        })
    };
    latency.into_iter().chain(cost()).collect()
}

fn goal(summary: &Summary) -> Option<Goal> {
    let place = (summary.database, summary.case, summary.phase);
    let (reference, target, is_reached): (_, _, Option<bool>) = match place {
        ("postgres", "worker-noop", "drain") => (
            "graphile_worker 13,000 to 26,000/s, River 9,800 to 13,700, apalis 1,700 to 8,000, dbos 205 to 1,185",
            "",
            None,
        ),
        ("postgres", "worker-chain", "start and drain") => (
            "dbos 246 to 594/s, apalis 162 to 277, underway 98, duroxide 33",
            "3 × dbos: ≥ 0.46 × INSERT or ≥ 1,782/s",
            Some(summary.to_insert >= CHAINS_TO_INSERT || summary.per_second >= CHAINS),
        ),
        ("postgres", "worker-map", "drain") => ("", "≥ 2 × INSERT", Some(summary.to_insert >= 2.0)),
        ("postgres", "worker-start", _) => (
            "p50/p99: graphile_worker 7.9/28 ms, River 8.7/108, dbos 749/852",
            "p50 ≤ 5 ms",
            summary.times.map(|times| times.p50_ms <= 5.0),
        ),
        ("postgres" | "mysql", "worker-idle", _) => {
            ("", "≤ 1 query/s", Some(summary.per_second <= 1.0))
        }
        ("sqlite", "worker-map", "drain") => ("", "≥ 3,000/s", Some(summary.per_second >= 3_000.0)),
        ("mysql", "worker-chain", "start and drain") => {
            ("", "≥ 0.4 × INSERT", Some(summary.to_insert >= 0.4))
        }
        ("mysql", "worker-map", "drain") => ("", "≥ 5 × INSERT", Some(summary.to_insert >= 5.0)),
        ("mysql", "worker-start", "same process") => {
            ("", "p50 ≤ 10 ms", summary.times.map(|times| times.p50_ms <= 10.0))
        }
        ("mysql", "worker-start", _) => {
            ("", "p50 ≤ 25 ms", summary.times.map(|times| times.p50_ms <= 25.0))
        }
        ("postgres" | "sqlite", "worker-readers", _) => {
            ("", "p50 ≤ 10 ms", summary.times.map(|times| times.p50_ms <= 10.0))
        }
        ("mysql", "worker-readers", _) => {
            ("", "p50 ≤ 25 ms", summary.times.map(|times| times.p50_ms <= 25.0))
        }
        (_, "worker-pipelines", PUSHED) | ("postgres" | "sqlite", "worker-pipelines", BATCHED) => {
            ("", "≥ 10,000 messages/s", Some(summary.per_second >= 10_000.0))
        }
        ("postgres" | "sqlite", "worker-pipelines", IDLE) => {
            ("", "p50 ≤ 5 ms", summary.times.map(|times| times.p50_ms <= 5.0))
        }
        (_, "worker-append", "eight writers") => {
            ("", "≥ 10,000 chunks/s", Some(summary.per_second >= 10_000.0))
        }
        ("mysql", "worker-step", _) => {
            ("", "p50 ≤ 10 ms", summary.times.map(|times| times.p50_ms <= 10.0))
        }
        _ => return None,
    };
    let what = [summary.database, summary.case, summary.phase, &summary.level].join(" ");
    Some(Goal {
        what: what.trim_end().to_owned(),
        measured: measured(summary),
        reference: reference.to_owned(),
        target,
        is_reached,
    })
}

fn measured(summary: &Summary) -> String {
    match summary.times {
        Some(times) => format!("p50 {:.1} ms, p99 {:.1} ms", times.p50_ms, times.p99_ms),
        None => format!("{:.1}/s, {:.2} × INSERT", summary.per_second, summary.to_insert),
    }
}
