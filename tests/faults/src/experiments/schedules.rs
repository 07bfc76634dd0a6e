//! Schedules, and what happens to the workers that start their runs.

use std::time::{Duration, Instant};

use pgflow::{Timestamp, client::RunQuery};
use pgflow_machine::schedule::Tick;

use crate::flows::chain;
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, Process};
use crate::{ensure, metrics};

const NAME: &str = "each second";
const FLOWS: &[&str] = &["chain"];
/// How often a worker is killed.
const EVERY: Duration = Duration::from_millis(700);

/// X50: the default policy, three processes, a moment in every second, and one of the processes is killed again and again.
pub(super) async fn every_second(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let first = schedule_each_second(&base).await?;
    let mut workers = Vec::new();
    for _ in 0..3 {
        workers.push(lab.worker(&base.url, FLOWS).start()?);
    }
    let kills = harm(lab, &base, &mut workers).await?;
    let (ticks, runs) = settle_up(&base, first).await?;
    for worker in workers {
        worker.stop().await?;
    }
    Ok(metrics! { "ticks": ticks, "runs": runs, "kills": kills })
}

/// The first of them.
pub(super) async fn schedule_each_second(base: &Base) -> Outcome<Timestamp> {
    let schedule = base.db.schedule(NAME);
    schedule.flow(chain::Flow, 1).cron("* * * * * *").await?;
    let made = schedule.get().await?;
    // A second may have come while it was made.
    Ok(made.last_at.or(made.next_at).ok_or("nobody knows when it is due")?)
}

/// Kills workers for as long as the experiment lasts.
async fn harm(lab: &mut Lab, base: &Base, workers: &mut [Process]) -> Outcome<u32> {
    let (since, lasts) = (Instant::now(), Duration::from_secs(lab.either(10, 60)));
    let mut kills = 0;
    while since.elapsed() < lasts {
        tokio::time::sleep(EVERY).await;
        let victim = lab.random.index(workers.len());
        workers[victim].kill9().await?;
        workers[victim] = lab.worker(&base.url, FLOWS).start()?;
        kills += 1;
    }
    Ok(kills)
}

/// Whoever is left makes up for what nobody started; then every second since the first has its run. How many seconds, and runs.
pub(super) async fn settle_up(base: &Base, first: Timestamp) -> Outcome<(u64, usize)> {
    let schedule = base.db.schedule(NAME);
    let until = schedule.get().await?.next_at.ok_or("it goes on")?;
    wait_for(base, until).await?;
    schedule.pause().await?;
    let last = schedule.get().await?.last_at.ok_or("it has started nothing")?;
    compare(base, first, last).await
}

async fn wait_for(base: &Base, until: Timestamp) -> Outcome {
    let deadline = Instant::now() + Duration::from_mins(1);
    while base.db.schedule(NAME).get().await?.last_at.is_none_or(|last| last < until) {
        ensure!(Instant::now() < deadline, "no worker starts what is due");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// Every second from the first to the last has its run, and there is no other.
async fn compare(base: &Base, first: Timestamp, last: Timestamp) -> Outcome<(u64, usize)> {
    let seconds = first.saturating_until(last).as_secs() + 1;
    let query = RunQuery { flows: vec!["chain".to_owned()], max: 1_000, ..RunQuery::default() };
    let runs = base.db.list(&query).await?.runs;
    for second in 0..seconds {
        let tick = Tick::new(NAME, first + Duration::from_secs(second));
        let many = runs.iter().filter(|run| run.id == tick.run).count();
        ensure!(many == 1, "second {second} has {many} runs");
    }
    ensure!(runs.len() as u64 == seconds, "{} runs in {seconds} seconds", runs.len());
    Ok((seconds, runs.len()))
}
