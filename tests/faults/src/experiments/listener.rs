//! Sessions that listen, and are ended again and again.

use std::time::{Duration, Instant};

use pgflow::Db;
use sqlx::PgPool;

use crate::flows::chain;
use crate::harness::{Kind, Lab, Metrics, Outcome, What};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["chain"];
/// What a session that listens, or sends hints, was last heard to say.
const END: &str = "select count(pg_terminate_backend(pid)) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and (query ilike 'listen%' or query like '%pg_notify(%')";

/// X17: every second, of the worker and of the client.
pub(super) async fn killed(lab: &mut Lab) -> Outcome<Metrics> {
    let base = lab.base(Kind::Postgres, FLOWS).await?;
    let worker = lab.worker(&base.url, FLOWS).start()?;
    base.db.start(chain::Flow, &0).await?.wait().await?;
    let calm = follow(&base.db, Instant::now() + Duration::from_secs(2)).await?;
    let (before, seconds) = (lab.journal.count(What::Entered)?, lab.either(6, 60));
    let end = Instant::now() + Duration::from_secs(seconds);
    let killing = kill(base.postgres_pool()?, end);
    let (latencies, killed) = tokio::join!(follow(&base.db, end), killing);
    let (latencies, killed) = (latencies?, killed?);
    ensure!(killed >= 3, "only {killed} sessions were ended");
    let handlers = lab.journal.count(What::Entered)? - before;
    ensure!(handlers == latencies.len() * 3, "{handlers} handlers for {} runs", latencies.len());
    worker.stop().await?;
    let [(before, _), (p50, worst)] =
        [&calm, &latencies].map(|latencies| median_and_worst(latencies));
    Ok(metrics! {
        "ended_sessions": killed, "runs": latencies.len(), "lost": 0, "duplicates": 0,
        "seconds_p50_before": before, "seconds_p50": p50, "seconds_worst": worst,
    })
}

fn median_and_worst(latencies: &[f64]) -> (f64, f64) {
    let mut latencies = latencies.to_vec();
    latencies.sort_by(f64::total_cmp);
    let at = |index: usize| latencies.get(index).copied().unwrap_or_default();
    (at(latencies.len() / 2), at(latencies.len().saturating_sub(1)))
}

async fn kill(pool: &PgPool, end: Instant) -> Outcome<i64> {
    let mut killed = 0;
    while Instant::now() < end {
        killed += sqlx::query_scalar::<_, i64>(END).fetch_one(pool).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(killed)
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
