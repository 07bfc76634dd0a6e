//! How much memory a worker needs.

use std::time::{Duration, Instant};

use pgflow::Run;

use crate::flows::pass;
use crate::harness::{Kind, Lab, Metrics, Outcome, Process};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["pass"];
/// What a worker may need at most, more than it did when it was warm. SQLite's cache has 16 MB.
const GROWTH_KB: u64 = 24 << 10;
/// What the last map may need more than the one before it: by then, caches are full.
const AGAIN_KB: u64 = 4 << 10;

/// M1: four maps of 100,000 one after the other, or two of 4,000 in the short form.
pub(super) async fn of_a_large_map(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let items: Vec<u32> = (0..lab.either(4000, 100_000)).collect();
    let worker = lab.worker(&base.url, FLOWS).arg("--concurrency", 64).start()?;
    let (since, mut warm, mut peaks) = (Instant::now(), None, Vec::new());
    for _ in 0..lab.either(2, 4) {
        let run = base.db.start(pass::Flow, &items).await?;
        let samples = drained(&run, &worker).await?;
        ensure!(run.output().await?.on == items, "the output is not the input");
        warm = warm.or_else(|| early(&samples, items.len()));
        peaks.push(samples.iter().map(|(_, kilobytes)| *kilobytes).max().unwrap_or(0));
    }
    let warm = warm.ok_or("it was over too soon to look")?;
    let [.., before, last] = peaks[..] else { return Err("there were too few maps".into()) };
    ensure!(last <= before + AGAIN_KB, "it grows with every map: {peaks:?} KB");
    ensure!(last <= warm + GROWTH_KB, "{warm} KB after a tenth of the first map, then {peaks:?}");
    worker.stop().await?;
    Ok(metrics! {
        "tasks_each": items.len(), "kilobytes_after_a_tenth": warm, "kilobytes_per_map": peaks,
        "seconds_to_drain": since.elapsed().as_secs_f64(),
    })
}

/// Tasks done and kilobytes, until the run is over.
async fn drained(run: &Run<pass::Flow>, worker: &Process) -> Outcome<Vec<(u32, u64)>> {
    let mut samples = Vec::new();
    while !run.status().await?.has_ended() {
        let progress = run.progress().await?;
        samples.push((progress[0].done, resident(worker.pid)?));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(samples)
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
