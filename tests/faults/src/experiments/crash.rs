//! Workers that are killed in the middle of a task.

use std::time::Instant;

use crate::flows::{Act, single};
use crate::harness::{Kind, Lab, Metrics, Outcome, Process};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["single"];

/// X01: another worker is alive when the first one is killed.
pub(super) async fn killed_worker(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    take_over(lab, kind, true).await
}

/// X02: nobody else is alive, and the next worker comes from the same host.
pub(super) async fn only_worker(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    take_over(lab, kind, false).await
}

async fn take_over(lab: &mut Lab, kind: Kind, has_other: bool) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let worker = || lab.worker(&base.url, FLOWS).start();
    let run = base.db.start(single::Flow, &Act::Gate).await?;
    let mut first = worker()?;
    lab.journal.entered("work", 1).await?;
    lab.open("gate-2")?;
    let other = if has_other { Some(worker()?) } else { None };
    first.kill9().await?;
    let since = Instant::now();
    let other = other.map_or_else(worker, Ok)?;
    let again = lab.journal.entered("work", 2).await?;
    let seconds = since.elapsed().as_secs_f64();
    ensure!(again.pid == other.pid, "process {} ran the second attempt", again.pid);
    ensure!(run.output().await?.after == 2, "the output is not that of the second attempt");
    end(other).await?;
    Ok(metrics! { "seconds_to_second_attempt": seconds, "attempts": 2 })
}

async fn end(worker: Process) -> Outcome {
    let end = worker.stop().await?;
    ensure!((end.settled, end.lost) == (2, 0), "the second worker says {end:?}");
    Ok(())
}
