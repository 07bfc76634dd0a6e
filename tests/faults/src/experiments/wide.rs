//! Maps that are wide, and what else there is to do.

use std::time::{Duration, Instant};

use pgflow::{Run, RunStatus};

use crate::flows::texts;
use crate::harness::{Kind, Lab, Metrics, Outcome, until};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["texts"];

/// X30: what a map puts out is megabytes of texts, and the step behind it is given all of them.
pub(super) async fn texts_end(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let elements = lab.either(3000, 200_000);
    let worker = lab.worker(&base.url, FLOWS).arg("--concurrency", 64).start()?;
    let since = Instant::now();
    let run = base.db.start(texts::Flow, &elements).await?;
    let patience = Duration::from_secs(lab.either(120, 1200));
    ensure!(
        run.wait_for(patience).await?.is_some(),
        "it has not ended: {:?}",
        run.progress().await?
    );
    let characters = run.output().await?.characters;
    ensure!(characters == 100 * elements as usize, "{characters} characters");
    worker.stop().await?;
    Ok(metrics! { "elements": elements, "seconds_to_drain": since.elapsed().as_secs_f64() })
}

/// X31: a run of three tasks, started while a wide map of the same flow is at work.
pub(super) async fn small_run(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let elements = lab.either(6000, 50_000);
    let wide = base.db.start(texts::Flow, &elements).await?;
    let worker = lab.worker(&base.url, FLOWS).arg("--concurrency", 16).start()?;
    until("the map at work", async || Ok((done(&wide).await? >= 200).then_some(()))).await?;
    let before = done(&wide).await?;
    let small = base.db.start(texts::Flow, &1).await?;
    ensure!(small.wait().await? == RunStatus::Completed, "the small run failed");
    let meanwhile = done(&wide).await? - before;
    // Three steps, each within a few claims of at most 16, and the looks at them in between.
    ensure!(
        meanwhile <= elements / 4,
        "{meanwhile} tasks of the map came before three of the small run"
    );
    ensure!(!wide.status().await?.has_ended(), "the map was over too soon to see anything");
    worker.stop().await?;
    Ok(metrics! { "elements": elements, "tasks_of_the_map_meanwhile": meanwhile })
}

/// Tasks of the map that are completed.
async fn done(run: &Run<texts::Flow>) -> Outcome<u32> {
    Ok(run.progress().await?[1].done)
}
