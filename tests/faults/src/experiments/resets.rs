//! Connections that are reset all the time.

use std::time::{Duration, Instant};

use pgflow::{Db, Run, RunStatus};

use crate::flows::{book, chain};
use crate::harness::{Kind, Lab, Metrics, Outcome, Process, What, until};
use crate::proxy::Proxy;
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["chain", "book"];

/// X14: of workers and of the client, all at once, every second.
pub(super) async fn every_second(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let proxy = Proxy::start(&base.url).await?;
    let db = Db::connect(proxy.url()).await?;
    let workers = workers(lab, &proxy, &db).await?;
    let (before, seconds) = (lab.journal.count(What::Entered)?, lab.either(6, 60));
    let items: Vec<u32> = (0..lab.either(300, 3000)).collect();
    let booked = db.start(book::Flow, &items).await?;
    let (runs, resets) = (starts(&db, seconds), reset(lab, &proxy, seconds));
    let (runs, resets) = tokio::join!(runs, resets);
    let runs = runs?;
    for (number, run) in (0..).zip(&runs) {
        ensure!(run.output().await?.three == number + 2, "run {} has another output", run.id());
    }
    ensure!(booked.wait().await? == RunStatus::Completed, "the map was not done");
    let effects = base.effects().await?;
    let written: Vec<u32> =
        effects.iter().filter_map(|(item, _)| u32::try_from(*item).ok()).collect();
    ensure!(written == items, "there are {} effects of {} tasks", effects.len(), items.len());
    for worker in workers {
        let end = worker.stop().await?;
        ensure!(end.lost == 0, "a worker says {end:?}");
    }
    let again = lab.journal.count(What::Entered)? - before - runs.len() * 3 - items.len();
    Ok(metrics! {
        "resets": resets, "runs": runs.len(), "tx_tasks": items.len(), "duplicates": 0, "missing": 0,
        "handlers_run_again": again,
    })
}

/// Two workers at work.
async fn workers(lab: &Lab, proxy: &Proxy, db: &Db) -> Outcome<[Process; 2]> {
    let worker = || lab.worker(proxy.url(), FLOWS).start();
    let workers = [worker()?, worker()?];
    db.start(chain::Flow, &0).await?.wait().await?;
    until("both workers", async || {
        db.start(chain::Flow, &0).await?.wait().await?;
        let entries = lab.journal.read()?;
        let works = |worker: &Process| entries.iter().any(|entry| entry.pid == worker.pid);
        Ok(workers.iter().all(works).then_some(()))
    })
    .await?;
    Ok(workers)
}

/// Starts runs while connections are reset; the client asks again, so that no start fails.
async fn starts(db: &Db, seconds: u64) -> Outcome<Vec<Run<chain::Flow>>> {
    let (end, mut runs) = (Instant::now() + Duration::from_secs(seconds), Vec::new());
    for number in 0.. {
        if Instant::now() > end {
            break;
        }
        runs.push(db.start(chain::Flow, &number).await?);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(runs)
}

async fn reset(lab: &mut Lab, proxy: &Proxy, seconds: u64) -> u64 {
    for _ in 0..seconds {
        // Not in step with anything that happens once a second.
        tokio::time::sleep(Duration::from_millis(lab.random.within(700..1300))).await;
        proxy.reset();
    }
    seconds
}
