//! Keys whose holders are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{all_done, patient_base, start};
use crate::flows::slips;
use crate::harness::{Entry, Kind, Lab, Metrics, Outcome, What};
use crate::{ensure, metrics};

const KEYS: usize = 3;
const WORKERS: usize = 3;

/// X44: jobs of few keys, whose workers are killed while they hold them: never two of a key at work, unless the first is dead.
pub(in super::super) async fn held_by_the_dead(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let mut jobs = Vec::new();
    for n in 0..lab.either(24, 120) {
        let job = base.db.submit::<slips::alone>(&2).id(format!("{n} of key {}", n % KEYS));
        jobs.push(job.key(format!("key {}", n % KEYS)).await?);
    }
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        workers.push(start(lab, &base)?);
    }
    let mut dead = BTreeSet::new();
    let mut ticks = tokio::time::interval(Duration::from_millis(400));
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
        let victim = workers.iter_mut().find(|worker| working.contains(&worker.pid));
        let Some(victim) = victim.filter(|_| dead.len() < lab.either(5, 40)) else { continue };
        victim.kill9().await?;
        dead.insert(victim.pid);
        *victim = start(lab, &base)?;
    }
    ensure!(dead.len() > 1, "only {} were killed", dead.len());
    let overlaps = overlaps(&lab.journal.read()?, &dead);
    ensure!(overlaps.is_empty(), "keys were held twice: {overlaps:?}");
    Ok(metrics! { "jobs": jobs.len(), "kills": dead.len(), "overlaps": 0 })
}

/// Attempts that began while another of the same key was at work in a process that lives. Lines stand in the order in which they
/// were written.
fn overlaps(journal: &[Entry], dead: &BTreeSet<u32>) -> Vec<String> {
    let (mut at_work, mut overlaps) = (BTreeMap::<String, (String, u32)>::new(), Vec::new());
    for entry in journal {
        let key = entry.run.rsplit("of ").next().unwrap_or_default().to_owned();
        match entry.what {
            What::Entered => {
                let new = (entry.run.clone(), entry.pid);
                if let Some((job, pid)) = at_work.insert(key, new)
                    && !dead.contains(&pid)
                {
                    overlaps.push(format!("{} began while {job} was at work", entry.run));
                }
            }
            What::Left | What::Told => drop(at_work.remove(&key)),
        }
    }
    overlaps
}
