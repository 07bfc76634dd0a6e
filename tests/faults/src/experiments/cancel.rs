//! Runs that are cancelled while handlers run.

use pgflow::{RunStatus, client::CancelOutcome};

use crate::flows::{listen, pass};
use crate::harness::{Kind, Lab, Metrics, Outcome, What, now, until};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["listen", "pass"];
/// The next heartbeat comes later than this, in milliseconds.
const BEAT: u64 = 14_000;

/// X13: five handlers run, fifty tasks wait.
pub(super) async fn busy_run(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let run = base.db.start(listen::Flow, &(0..55).collect::<Vec<_>>()).await?;
    let worker = lab.worker(&base.url, FLOWS).arg("--concurrency", 5).start()?;
    wait_for(lab, What::Entered).await?;
    let asked = run.cancel(Some("no longer needed")).await?;
    let cancelled = now();
    ensure!(asked == CancelOutcome::Cancelled, "{asked:?}");
    wait_for(lab, What::Told).await?;
    let told = lab.journal.read()?.into_iter().filter(|entry| entry.what == What::Told);
    let late = told.map(|entry| entry.at.saturating_sub(cancelled)).max().unwrap_or(0);
    ensure!(late < BEAT, "a handler was told by its heartbeat, after {late} ms");
    // The worker has room again, and takes what there is: nothing of the cancelled run.
    let next = base.db.start(pass::Flow, &vec![1, 2, 3]).await?;
    ensure!(next.wait().await? == RunStatus::Completed, "the worker is of no use any more");
    let entered = lab.journal.count(What::Entered)?;
    ensure!(entered == 5, "{} handlers began after the cancellation", entered - 5);
    ensure!(run.status().await? == RunStatus::Cancelled, "the run goes on");
    let end = worker.stop().await?;
    ensure!((end.settled, end.superseded) == (3, 5), "the worker says {end:?}");
    Ok(
        metrics! { "running": 5, "queued": 50, "begun_afterwards": 0, "milliseconds_until_told": late },
    )
}

async fn wait_for(lab: &Lab, what: What) -> Outcome {
    until("five handlers", async || Ok((lab.journal.count(what)? >= 5).then_some(()))).await
}
