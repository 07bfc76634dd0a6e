//! Maps that are wide, and what else there is to do.

use std::time::{Duration, Instant};

use pgflow::{Db, Run, RunStatus};

use crate::flows::{texts, twins};
use crate::harness::{Kind, Lab, Metrics, Outcome, until};
use crate::proxy::Proxy;
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

/// Looks at a run, and small runs beside it.
const LOOKS: u32 = 10;
/// What looks are answered, all together.
const ANSWERS: usize = 1 << 20;

/// X32: two maps of 144 MB each. Whoever asks how the run is doing is not sent them, others are not kept waiting, and
/// who wants them gets them.
pub(super) async fn looked_at(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let flows = &["twins", "texts"];
    let base = lab.base(kind, flows).await?;
    let megabytes = lab.either(12, 144);
    let worker = lab.worker(&base.url, flows).arg("--concurrency", 8).start()?;
    let id = base.db.start(twins::Flow, &megabytes).await?.id();
    let proxy = match kind {
        Kind::Postgres | Kind::MySql => Some(Proxy::start(&base.url).await?),
        Kind::Sqlite => None,
    };
    let db = Db::connect(proxy.as_ref().map_or(&*base.url, Proxy::url)).await?;
    let run: Run<twins::Flow> = db.get(id).await?.ok_or("the run is not there")?;
    let patience = Duration::from_secs(lab.either(120, 900));
    ensure!(
        run.wait_for(patience).await? == Some(RunStatus::Completed),
        "it has not ended well: {:?}",
        run.progress().await?
    );
    for _ in 0..LOOKS {
        ensure!(run.status().await? == RunStatus::Completed, "it was completed before");
        ensure!(db.get::<twins::Flow>(id).await?.is_some(), "it was there before");
        run.progress().await?;
    }
    let looked = proxy.as_ref().map(Proxy::answered);
    if let Some(answered) = looked {
        ensure!(answered <= ANSWERS, "{answered} bytes were sent to somebody who asked for none");
    }
    let beside = async || -> Outcome {
        for _ in 0..LOOKS {
            let small = db.start(texts::Flow, &1).await?;
            ensure!(small.wait().await? == RunStatus::Completed, "a small run failed");
            ensure!(run.status().await? == RunStatus::Completed, "it was completed before");
        }
        Ok(())
    };
    let whole =
        async || -> Outcome<usize> { Ok(run.output().await?.right.iter().map(String::len).sum()) };
    let (bytes, ()) = tokio::try_join!(whole(), beside())?;
    ensure!(bytes == megabytes as usize * 1_000_000, "{bytes} characters were read");
    worker.stop().await?;
    Ok(metrics! { "megabytes_each": megabytes, "bytes_of_looks": looked })
}

/// Tasks of the map that are completed.
async fn done(run: &Run<texts::Flow>) -> Outcome<u32> {
    Ok(run.progress().await?[1].done)
}
