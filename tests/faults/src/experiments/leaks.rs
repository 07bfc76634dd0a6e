//! What is left of workers that stopped.

use crate::child::Belongings;
use crate::harness::{Kind, Lab, Metrics, Outcome};
use crate::{ensure, metrics};

/// Files and threads come and go; a leak would be one per worker.
const SLACK: usize = 8;

/// M2: a process starts and stops workers a thousand times, or a tenth of that in the short form.
pub(super) async fn of_workers(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, &["pass"]).await?;
    let cycles = lab.either(100, 1000);
    let process = lab.spawn("cycles", &base.url).arg("--cycles", cycles).start()?;
    let (status, printed) = process.end().await?;
    ensure!(status.success(), "it ended with {status}");
    let [before, after]: [Belongings; 2] = serde_json::from_str(&printed)?;
    ensure!(after.tasks <= before.tasks, "tasks: {before:?}, then {after:?}");
    ensure!(after.files <= before.files + SLACK, "files: {before:?}, then {after:?}");
    ensure!(after.threads <= before.threads + SLACK as u64, "threads: {before:?}, then {after:?}");
    Ok(metrics! { "cycles": cycles, "before": before, "after": after })
}
