//! Sessions that listen, and are ended again and again.

use std::time::{Duration, Instant};

use pgflow::Db;

use crate::flows::chain;
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, What, quantile};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["chain"];
/// X17: every second, of the worker and of the client.
pub(super) async fn killed(lab: &mut Lab) -> Outcome<Metrics> {
    let base = lab.base(Kind::Postgres, FLOWS).await?;
    let worker = lab.worker(&base.url, FLOWS).start()?;
    base.db.start(chain::Flow, &0).await?.wait().await?;
    let calm = follow(&base.db, Instant::now() + Duration::from_secs(2)).await?;
    let (before, seconds) = (lab.journal.count(What::Entered)?, lab.either(6, 60));
    let end = Instant::now() + Duration::from_secs(seconds);
    let killing = end_sessions(&base, end);
    let (latencies, killed) = tokio::join!(follow(&base.db, end), killing);
    let (latencies, killed) = (latencies?, killed?);
    ensure!(killed >= 3, "only {killed} sessions were ended");
    let handlers = lab.journal.count(What::Entered)? - before;
    ensure!(handlers == latencies.len() * 3, "{handlers} handlers for {} runs", latencies.len());
    worker.stop().await?;
    let [before, p50] = [&calm, &latencies].map(|latencies| quantile(latencies, 0.5));
    let worst = quantile(&latencies, 1.0);
    Ok(metrics! {
        "ended_sessions": killed, "runs": latencies.len(), "lost": 0, "duplicates": 0,
        "seconds_p50_before": before, "seconds_p50": p50, "seconds_worst": worst,
    })
}

/// Every second; how many.
pub(super) async fn end_sessions(base: &Base, end: Instant) -> Outcome<u64> {
    let mut ended = 0;
    while Instant::now() < end {
        ended += base.end_sessions().await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(ended)
}

/// Starts runs one by one, and reads all their events while they happen; how long each took.
async fn follow(db: &Db, end: Instant) -> Outcome<Vec<f64>> {
    let mut latencies = Vec::new();
    while Instant::now() < end {
        let since = Instant::now();
        let run = db.start(chain::Flow, &1).await?;
        let (mut events, mut last) = (run.events(), 0);
        while let Some(event) = events.next().await {
            let seq = event?.seq;
            ensure!(seq == last + 1, "event {seq} came after {last}");
            last = seq;
        }
        ensure!(last == 8, "run {} has {last} events", run.id());
        latencies.push(since.elapsed().as_secs_f64());
    }
    Ok(latencies)
}
