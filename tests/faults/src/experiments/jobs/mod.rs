//! Jobs, and what happens to their workers.

mod keys;
mod lost;
mod races;
mod storm;
mod zombie;

pub(super) use keys::held_by_the_dead;
pub(super) use lost::of_jobs;
pub(super) use races::{rings, wake_ups};
pub(super) use storm::killed;
pub(super) use zombie::comes_back;

use pgflow::client::JobHandle;
use pgflow_machine::job::JobSettings;

use crate::ensure;
use crate::harness::{Base, Kind, Lab, Outcome, Process};
use std::sync::Arc;

/// What a worker is told to serve.
const SLIPS: &[&str] = &["slips"];

/// A database in which no job is set aside because its workers were killed.
async fn patient_base(lab: &mut Lab, kind: Kind) -> Outcome<Arc<Base>> {
    let base = lab.base(kind, &[]).await?;
    let settings = JobSettings { crash_threshold: 10_000, ..JobSettings::default() };
    base.db.backend().jobs()?.set_job_settings(settings).await?;
    Ok(base)
}

fn start(lab: &Lab, base: &Base) -> Outcome<Process> {
    lab.worker(&base.url, SLIPS).arg("--concurrency", 3).start()
}

/// Waits for the good end of all of these.
async fn all_done(jobs: &[JobHandle]) -> Outcome {
    for job in jobs {
        let outcome = job.wait().await?;
        ensure!(outcome.word() == "done", "job {} ended {outcome}", job.id());
    }
    Ok(())
}
