//! Effects of steps while workers are killed.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use pgflow::{Flow, Run, RunStatus, client::Parts};
use serde_json::{Value, json};

use crate::flows::{book, jot};
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, Process, What};
use crate::{ensure, metrics};

/// How often a worker is killed.
const EVERY: Duration = Duration::from_millis(250);
const WORKERS: usize = 3;

/// X05: with `tx`, and without as a control that has to show what `tx` is for.
pub(super) async fn storm(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, &["book", "jot"]).await?;
    let items: Vec<u32> = (0..lab.either(300, 1000)).collect();
    let run = base.db.start(book::Flow, &items).await?;
    let with_tx = survive(lab, &base, "book", &run).await?;
    ensure!(run.output().await?.one == items, "the output is not that of the tasks, in order");
    let effects = Effects::of(&base, &items).await?;
    ensure!((effects.duplicates, effects.missing) == (0, 0), "{effects:?}");
    let run = base.db.start(jot::Flow, &items).await?;
    let control = survive(lab, &base, "jot", &run).await?;
    // Of both runs.
    let all = Effects::of(&base, &items).await?.all;
    let duplicates = all - 2 * items.len();
    ensure!(duplicates > 0, "the control had no duplicates: this proves nothing");
    Ok(metrics! {
        "tasks": items.len(), "tx": with_tx, "duplicates": 0, "missing": 0,
        "control": control, "control_duplicates": duplicates,
    })
}

#[derive(Debug)]
struct Effects {
    all: usize,
    duplicates: usize,
    missing: usize,
}

impl Effects {
    async fn of(base: &Base, items: &[u32]) -> Outcome<Self> {
        let effects = base.effects().await?;
        let found: BTreeSet<i64> = effects.iter().map(|(item, _)| *item).collect();
        let missing = items.iter().filter(|item| !found.contains(&i64::from(**item))).count();
        Ok(Self { all: effects.len(), duplicates: effects.len() - found.len(), missing })
    }
}

/// Kills workers for as long as the run goes on. A task that is really lost four times ends its run, as it should;
/// the run is retried then, which must not repeat an effect either.
async fn survive<F: Flow>(lab: &mut Lab, base: &Base, flow: &str, run: &Run<F>) -> Outcome<Value> {
    let since = Instant::now();
    let before = lab.journal.count(What::Entered)?;
    let (mut workers, mut kills, mut retries) = (Vec::new(), 0, 0);
    for _ in 0..WORKERS {
        workers.push(start(lab, base, flow)?);
    }
    let mut ticks = tokio::time::interval(EVERY);
    loop {
        match run.status().await? {
            RunStatus::Completed => break,
            RunStatus::Failed => retries += stalled(run).await?,
            _ => {}
        }
        ticks.tick().await;
        for worker in &mut workers {
            let ended = worker.ended()?;
            ensure!(ended.is_none(), "a worker ended without being killed: {ended:?}");
        }
        let Some(victim) = victim(lab, &workers)? else { continue };
        workers[victim].kill9().await?;
        workers[victim] = start(lab, base, flow)?;
        kills += 1;
    }
    ensure!(kills > 2, "only {kills} were killed");
    let attempts = lab.journal.count(What::Entered)? - before;
    Ok(
        json!({ "kills": kills, "attempts": attempts, "retries": retries, "seconds": since.elapsed().as_secs_f64() }),
    )
}

fn start(lab: &Lab, base: &Base, flow: &str) -> Outcome<Process> {
    lab.worker(&base.url, &[flow]).arg("--concurrency", 3).start()
}

/// Lets a run go on that lost a task too often; anything else is a failure.
async fn stalled<F: Flow>(run: &Run<F>) -> Outcome<u32> {
    let record = run.record(Parts::Steps).await?;
    let error = record.steps[0].error.clone().unwrap_or_default();
    ensure!(error.starts_with("stalled: "), "the run failed: {error}");
    run.retry().await?;
    Ok(1)
}

/// One that has begun to work: on a busy machine, others may need longer than they would live.
fn victim(lab: &mut Lab, workers: &[Process]) -> Outcome<Option<usize>> {
    let working: BTreeSet<u32> = lab.journal.read()?.into_iter().map(|entry| entry.pid).collect();
    let victims: Vec<usize> =
        (0..workers.len()).filter(|worker| working.contains(&workers[*worker].pid)).collect();
    Ok((!victims.is_empty()).then(|| victims[lab.random.index(victims.len())]))
}
