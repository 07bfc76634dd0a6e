//! Workers whose clock is wrong.

use std::time::{Duration, Instant};

use crate::flows::{Act, chain, single};
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, Process, What, compile, now};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["chain", "single"];
const HOUR: i64 = 3600;
/// Besides, the clock jumps back and forth by this.
const JUMP: i64 = 600;
/// Makes a clock wrong, in front of the C library's own.
const SHIM: &str = include_str!("../../shim/clock.rs");
/// A worker looks for lost tasks more often than this.
const A_SWEEP: Duration = Duration::from_secs(7);

/// X21: one worker is an hour ahead, the other an hour behind, and both clocks jump. One holds a task and renews its
/// lease; the other must not take it away.
pub(super) async fn skewed(lab: &mut Lab) -> Outcome<Metrics> {
    let shim = compile(lab.dir(), "clock", SHIM)?;
    let base = lab.base(Kind::Postgres, FLOWS).await?;
    let worker = |skew: i64| {
        let worker = lab.worker(&base.url, FLOWS).env("LD_PRELOAD", shim.display());
        worker.env("PGFLOW_CLOCK_SKEW", skew).start()
    };
    let (ahead, behind) = (worker(HOUR)?, worker(-HOUR)?);
    let held = base.db.start(single::Flow, &Act::Gate).await?;
    lab.journal.entered("work", 1).await?;
    let runs = keep_busy(lab, &base, [&ahead, &behind]).await?;
    lab.open("gate-1")?;
    let attempt = held.output().await?.after;
    ensure!(attempt == 1, "attempt {attempt} completed: the task was taken from its worker");
    let skews = [skew_of(lab, &ahead)?, skew_of(lab, &behind)?];
    let is_off = |skew: i64, by: i64| (skew - by).abs() <= JUMP + 60;
    ensure!(is_off(skews[0], HOUR) && is_off(skews[1], -HOUR), "clocks were off by {skews:?} s");
    let lost = "select coalesce(sum(requeued_count), 0) from pgflow.step_tasks";
    let lost: i64 = sqlx::query_scalar(lost).fetch_one(base.postgres_pool()?).await?;
    ensure!(lost == 0, "{lost} leases ran out");
    for worker in [ahead, behind] {
        let end = worker.stop().await?;
        ensure!((end.superseded, end.lost) == (0, 0), "a worker says {end:?}");
    }
    Ok(metrics! { "seconds_off": skews, "expired_leases": lost, "runs": runs, "attempts_each": 1 })
}

/// Runs flows until both have worked and would have looked for lost tasks.
async fn keep_busy(lab: &Lab, base: &Base, workers: [&Process; 2]) -> Outcome<u32> {
    let (since, mut runs) = (Instant::now(), 0);
    loop {
        let run = base.db.start(chain::Flow, &1).await?;
        ensure!(run.output().await?.three == 3, "run {} has another output", run.id());
        runs += 1;
        let entries = lab.journal.read()?;
        let works = |worker: &&Process| entries.iter().any(|entry| entry.pid == worker.pid);
        if since.elapsed() > A_SWEEP && workers.iter().all(works) {
            let attempts = entries.iter().filter(|entry| entry.what == What::Entered).count();
            ensure!(attempts == runs as usize * 3 + 1, "{attempts} attempts for {runs} runs");
            return Ok(runs);
        }
    }
}

/// By how many seconds a worker's clock is off, by what it wrote last.
fn skew_of(lab: &Lab, worker: &Process) -> Outcome<i64> {
    let entries = lab.journal.read()?;
    let last = entries.iter().rfind(|entry| entry.pid == worker.pid).ok_or("it did nothing")?;
    Ok((i64::try_from(last.at)? - i64::try_from(now())?) / 1000)
}
