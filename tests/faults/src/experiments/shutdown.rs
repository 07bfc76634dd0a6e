//! Workers that are asked to stop.

use std::time::Instant;

use crate::flows::hold;
use crate::harness::{Kind, Lab, Metrics, Outcome, Process, What, until};
use crate::proxy::Proxy;
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["hold"];
/// Three run, ten wait.
const TASKS: u32 = 13;

/// X12: tasks come back, and their only attempt is not used up.
pub(super) async fn gives_back(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let items: Vec<u32> = (0..TASKS).collect();
    let run = base.db.start(hold::Flow, &items).await?;
    let polite = busy(lab, &base.url, 0.5, 3).await?;
    let polite = stopped(polite, &["TERM"]).await?;
    let hurried = busy(lab, &base.url, 600.0, 6).await?;
    // Two of a kind could arrive as one.
    let hurried = stopped(hurried, &["TERM", "INT"]).await?;
    lab.open("go")?;
    let last = lab.worker(&base.url, FLOWS).start()?;
    ensure!(run.output().await?.work == items, "the run has another output");
    let entered = lab.journal.count(What::Entered)?;
    ensure!(entered == 19, "{entered} attempts began instead of 3, 3 and {TASKS}");
    ensure!(last.stop().await?.settled == u64::from(TASKS), "the last worker did not do it all");
    Ok(metrics! {
        "released": 6, "attempts_used_up": 0,
        "seconds_with_half_a_second_of_grace": polite, "seconds_with_second_signal": hurried,
    })
}

/// X12-lost: the database is gone when the worker stops.
pub(super) async fn without_database(lab: &mut Lab) -> Outcome<Metrics> {
    let base = lab.base(Kind::Postgres, FLOWS).await?;
    let proxy = Proxy::start(&base.url).await?;
    let run = base.db.start(hold::Flow, &vec![1, 2, 3]).await?;
    let worker = busy(lab, proxy.url(), 600.0, 3).await?;
    proxy.shut();
    let since = Instant::now();
    worker.signal("TERM").await?;
    worker.signal("INT").await?;
    let (status, end) = worker.worker_end().await?;
    ensure!(!status.success() && end.lost == 3, "it ended with {status} and said {end:?}");
    let seconds = since.elapsed().as_secs_f64();
    // That leases of the lost run out is another experiment.
    run.cancel(None).await?;
    Ok(metrics! { "lost": end.lost, "exit_status": status.code(), "seconds_to_give_up": seconds })
}

/// A worker with three handlers that run, after so many attempts by all.
async fn busy(lab: &Lab, url: &str, grace: f64, entered: usize) -> Outcome<Process> {
    let worker = lab.worker(url, FLOWS).arg("--concurrency", 3).arg("--grace", grace).start()?;
    until("three handlers", async || {
        Ok((lab.journal.count(What::Entered)? >= entered).then_some(()))
    })
    .await?;
    Ok(worker)
}

/// Sends signals, and sees that all is given back; how long that took.
async fn stopped(worker: Process, signals: &[&str]) -> Outcome<f64> {
    let since = Instant::now();
    for signal in signals {
        worker.signal(signal).await?;
    }
    let (status, end) = worker.worker_end().await?;
    ensure!(status.success(), "it ended with {status}");
    ensure!((end.released, end.settled, end.lost) == (3, 0, 0), "it says {end:?}");
    Ok(since.elapsed().as_secs_f64())
}
