//! Effects of steps while workers are killed.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use pgflow::{Flow, Run, RunStatus};
use serde_json::{Value, json};

use crate::flows::{book, jot};
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, Process};
use crate::{ensure, metrics};

/// How often a worker is killed.
const EVERY: Duration = Duration::from_millis(250);
const WORKERS: usize = 3;

/// X05: with `tx`, and without as a control that has to show what `tx` is for.
pub(super) async fn storm(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let tasks = 1000;
    let base = lab.base(kind, &["book", "jot"]).await?;
    let items: Vec<u32> = (0..tasks).collect();
    let run = base.db.start(book::Flow, &items).await?;
    let with_tx = survive(lab, &base, "book", &run).await?;
    ensure!(run.output().await?.one == items, "the output is not that of the tasks, in order");
    let effects = Effects::of(&base, tasks).await?;
    ensure!(effects.all == 1000, "{effects:?}");
    ensure!((effects.duplicates, effects.missing) == (0, 0), "{effects:?}");
    let run = base.db.start(jot::Flow, &items).await?;
    let control = survive(lab, &base, "jot", &run).await?;
    let both = Effects::of(&base, tasks).await?;
    let duplicates = both.all - effects.all - items.len();
    ensure!(duplicates > 0, "the control had no duplicates: this proves nothing");
    Ok(metrics! {
        "tasks": tasks, "tx": with_tx, "duplicates": 0, "missing": 0,
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
    async fn of(base: &Base, tasks: u32) -> Outcome<Self> {
        let effects = base.effects().await?;
        let items: BTreeSet<i64> = effects.iter().map(|(item, _)| *item).collect();
        let missing = (0..i64::from(tasks)).filter(|item| !items.contains(item)).count();
        Ok(Self { all: effects.len(), duplicates: effects.len() - items.len(), missing })
    }
}

/// Kills workers until the run is over.
async fn survive<F: Flow>(lab: &mut Lab, base: &Base, flow: &str, run: &Run<F>) -> Outcome<Value> {
    let (since, mut kills) = (Instant::now(), 0);
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        workers.push(lab.worker(&base.url, &[flow]).start()?);
    }
    let mut ticks = tokio::time::interval(EVERY);
    while !run.status().await?.has_ended() {
        ticks.tick().await;
        let Some(victim) = victim(lab, &workers)? else { continue };
        workers[victim].kill9().await?;
        workers[victim] = lab.worker(&base.url, &[flow]).start()?;
        kills += 1;
    }
    let status = run.status().await?;
    ensure!(status == RunStatus::Completed, "the run has {status} after {kills} kills");
    ensure!(kills > 0, "nobody was killed");
    Ok(json!({ "kills": kills, "seconds": since.elapsed().as_secs_f64() }))
}

/// One that has begun to work: on a busy machine, others may need longer than they would live.
fn victim(lab: &mut Lab, workers: &[Process]) -> Outcome<Option<usize>> {
    let working: BTreeSet<u32> = lab.journal.read()?.into_iter().map(|entry| entry.pid).collect();
    let victims: Vec<usize> =
        (0..workers.len()).filter(|worker| working.contains(&workers[*worker].pid)).collect();
    Ok((!victims.is_empty()).then(|| victims[lab.random.index(victims.len())]))
}
