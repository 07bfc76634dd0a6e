//! A task that takes every worker down.

use pgflow::{RunStatus, backend::Parts};

use crate::flows::{Act, single};
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, What, until};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["single"];

/// X06: the handler aborts its process each time; somebody starts a new one each time.
pub(super) async fn aborts(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let run = base.db.start(single::Flow, &Act::Abort).await?;
    let crashes = supervise(lab, &base, async || Ok(run.status().await?.has_ended())).await?;
    let record = run.record(Parts::Steps).await?;
    let error = record.steps[0].error.clone().unwrap_or_default();
    ensure!(record.status == RunStatus::Failed, "the run has {}", record.status);
    ensure!(error == "stalled: task 0 was lost by its worker 4 times", "the error is {error:?}");
    let claims = lab.journal.count(What::Entered)?;
    ensure!((claims, crashes) == (4, 4), "{claims} claims and {crashes} crashes");
    Ok(metrics! { "claims": claims, "crashes": crashes, "error": error })
}

/// Starts a worker whenever there is none. Looks for lost tasks more often than workers do, to save time.
async fn supervise(
    lab: &Lab,
    base: &Base,
    is_over: impl AsyncFn() -> Outcome<bool>,
) -> Outcome<usize> {
    let mut crashes = 0;
    let mut worker = lab.worker(&base.url, FLOWS).start()?;
    until("the end of the run", async || {
        if worker.ended()?.is_some() {
            crashes += 1;
            worker = lab.worker(&base.url, FLOWS).start()?;
        }
        base.db.backend().sweep().await?;
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        Ok(is_over().await?.then_some(()))
    })
    .await?;
    Ok(crashes)
}
