//! Effects of needs while workers are killed.

use std::collections::BTreeSet;
use std::time::Duration;

use pgflow::client::JobHandle;
use pgflow::job::Need;

use super::{all_done, patient_base, start};
use crate::flows::slips;
use crate::harness::{Base, Kind, Lab, Metrics, Outcome};
use crate::{ensure, metrics};

/// How often a worker is killed.
const EVERY: Duration = Duration::from_millis(250);
const WORKERS: usize = 3;

/// X40: with `tx`, and without as a control that has to show what `tx` is for.
pub(in super::super) async fn killed(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let items = lab.either(150, 1000);
    let kills = survive::<slips::book>(lab, &base, items).await?;
    let effects = base.effects().await?;
    let found: BTreeSet<i64> = effects.iter().map(|(item, _)| *item).collect();
    ensure!(found.len() == items as usize, "{} of {items} effects are there", found.len());
    ensure!(effects.len() == found.len(), "{} effects happened twice", effects.len() - found.len());
    let control_kills = survive::<slips::jot>(lab, &base, items).await?;
    let duplicates = base.effects().await?.len() - 2 * items as usize;
    ensure!(duplicates > 0, "the control had no duplicates: this proves nothing");
    Ok(metrics! {
        "jobs": items, "kills": kills, "duplicates": 0, "missing": 0,
        "control_kills": control_kills, "control_duplicates": duplicates,
    })
}

/// Kills workers until all jobs are done.
async fn survive<N: Need<Payload = u32>>(lab: &mut Lab, base: &Base, items: u32) -> Outcome<u32> {
    let jobs = base.db.submit_all::<N>(0..items).await?;
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        workers.push(start(lab, base)?);
    }
    let (mut kills, mut ticks) = (0, tokio::time::interval(EVERY));
    let done = all_done(&jobs);
    tokio::pin!(done);
    loop {
        tokio::select! {
            done = &mut done => {
                done?;
                break;
            }
            _ = ticks.tick() => {}
        }
        let working: BTreeSet<u32> = lab.journal.read()?.iter().map(|entry| entry.pid).collect();
        let victims: Vec<_> =
            (0..WORKERS).filter(|worker| working.contains(&workers[*worker].pid)).collect();
        if victims.is_empty() {
            continue;
        }
        let victim = victims[lab.random.index(victims.len())];
        workers[victim].kill9().await?;
        workers[victim] = start(lab, base)?;
        kills += 1;
    }
    ensure!(kills > 2, "only {kills} were killed");
    check_lapses(&jobs).await?;
    Ok(kills)
}

/// What a killed worker had was counted as lost.
async fn check_lapses(jobs: &[JobHandle]) -> Outcome {
    for job in jobs {
        let row = job.record().await?.summary.row;
        let lost = row.attempts - 1;
        ensure!(row.lapses == lost, "job {} was lost {lost} times, not {}", job.id(), row.lapses);
    }
    Ok(())
}
