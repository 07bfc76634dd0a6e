//! Handlers that block every thread of their worker.

use std::time::Instant;

use crate::flows::block;
use crate::harness::{Kind, Lab, Metrics, Outcome, Process, What, until};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["block"];
/// As many as the worker has threads.
const THREADS: usize = 2;
/// Longer than a lease, in milliseconds: three seconds for the handler, and two.
const BLOCKED: u32 = 9000;

/// X26: nobody takes their tasks meanwhile, and the log names the step.
pub(super) async fn threads(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let run = base.db.start(block::Flow, &vec![BLOCKED; THREADS]).await?;
    let blocked = blocking(lab, &base.url, THREADS).await?;
    // Somebody who would take what was lost.
    let other = lab.worker(&base.url, FLOWS).start()?;
    ensure!(run.output().await?.work.len() == THREADS, "the run has another output");
    let entered = lab.journal.count(What::Entered)?;
    ensure!(entered == THREADS, "{entered} attempts began instead of {THREADS}");
    let log = std::fs::read_to_string(lab.dir().join("stderr"))?;
    let named = log.lines().filter(|line| line.contains("blocks its thread")).count();
    ensure!(named == THREADS && log.contains("step=\"work\""), "the step is not named: {log}");
    for worker in [blocked, other] {
        let end = worker.stop().await?;
        ensure!((end.superseded, end.lost) == (0, 0), "a worker says {end:?}");
    }
    Ok(
        metrics! { "threads": THREADS, "milliseconds_blocked": BLOCKED, "attempts_each": 1, "named": named },
    )
}

/// X26-exit: after a second signal the tasks are given back and the process ends, though no thread is free.
pub(super) async fn signals(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    const AGES: u32 = 600_000;
    let base = lab.base(kind, FLOWS).await?;
    let run = base.db.start(block::Flow, &vec![AGES; THREADS]).await?;
    let worker = blocking(lab, &base.url, THREADS).await?;
    let since = Instant::now();
    // Two of a kind could arrive as one.
    worker.signal("TERM").await?;
    worker.signal("INT").await?;
    let (status, _) = worker.end().await?;
    ensure!(status.success(), "it ended with {status}");
    let seconds = since.elapsed().as_secs_f64();
    // Given back: another one begins them, long before their leases are over.
    let next = blocking(lab, &base.url, THREADS * 2).await?;
    let entries = lab.journal.read()?;
    let began = entries.iter().filter(|entry| entry.pid == next.pid).count();
    ensure!(began == THREADS, "the next worker began {began}");
    run.cancel(None).await?;
    drop(next);
    Ok(metrics! { "seconds_to_exit": seconds, "given_back": THREADS })
}

/// A worker all of whose threads are blocked, after so many attempts by all.
async fn blocking(lab: &Lab, url: &str, entered: usize) -> Outcome<Process> {
    let worker = lab.worker(url, FLOWS).arg("--threads", THREADS).arg("--grace", 600);
    let worker = worker.arg("--concurrency", THREADS).start()?;
    until("blocked threads", async || {
        Ok((lab.journal.count(What::Entered)? >= entered).then_some(()))
    })
    .await?;
    Ok(worker)
}
