//! How much memory a worker needs.

use std::time::{Duration, Instant};

use crate::flows::pass;
use crate::harness::{Kind, Lab, Metrics, Outcome};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["pass"];
/// What a worker may need at the end more than it did when it was warm.
const GROWTH_KB: u64 = 24 << 10;

/// M1: a map of 100,000, or 4,000 in the short form.
pub(super) async fn of_a_large_map(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let items: Vec<u32> = (0..lab.either(4000, 100_000)).collect();
    let run = base.db.start(pass::Flow, &items).await?;
    let since = Instant::now();
    let worker = lab.worker(&base.url, FLOWS).arg("--concurrency", 64).start()?;
    let mut samples = Vec::new();
    while !run.status().await?.has_ended() {
        let progress = run.progress().await?;
        samples.push((progress[0].done, resident(worker.pid)?));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let seconds = since.elapsed().as_secs_f64();
    ensure!(run.output().await?.on == items, "the output is not the input");
    let warm = early(&samples, items.len()).ok_or("it was over too soon to look")?;
    let most = samples.iter().map(|(_, kilobytes)| *kilobytes).max().unwrap_or(0);
    // The rest is the output as a whole, which SQLite puts together in the worker.
    let late = samples.iter().rfind(|(done, _)| (*done as usize) < items.len() / 20 * 19);
    ensure!(most <= warm + GROWTH_KB, "{warm} KB after a tenth of the tasks, {most} KB later on");
    worker.stop().await?;
    Ok(metrics! {
        "tasks": items.len(), "kilobytes_after_a_tenth": warm, "kilobytes_at_most": most,
        "kilobytes_before_the_last_twentieth": late.map(|(_, kilobytes)| kilobytes),
        "samples": samples.len(), "seconds_to_drain": seconds,
    })
}

/// The first sample after a tenth of the work.
fn early(samples: &[(u32, u64)], tasks: usize) -> Option<u64> {
    let is_warm = |done: u32| done as usize * 10 >= tasks && (done as usize) < tasks / 2;
    samples.iter().find(|(done, _)| is_warm(*done)).map(|(_, kilobytes)| *kilobytes)
}

/// The resident memory of a process, in kilobytes.
fn resident(pid: u32) -> Outcome<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    Ok(line.and_then(|rest| rest.split_whitespace().next()).unwrap_or("0").parse()?)
}
