//! Keys whose holders are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{all_done, patient_base, start};
use crate::flows::slips;
use crate::harness::{Entry, Kind, Lab, Metrics, Outcome, What};
use crate::{ensure, metrics};

const KEYS: usize = 3;
const WORKERS: usize = 3;

/// X44: jobs of few keys and two needs, whose workers are killed while they hold them: never two of a key at work, unless the first is dead.
pub(in super::super) async fn held_by_the_dead(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = patient_base(lab, kind).await?;
    let mut jobs = Vec::new();
    for n in 0..lab.either(24, 120) {
        let (id, key) = (format!("{n} of key {}", n % KEYS), format!("key {}", n % KEYS));
        // Each key has both needs in its line.
        jobs.push(if (n / KEYS).is_multiple_of(2) {
            base.db.submit::<slips::alone>(&2).id(id).key(key).await?
        } else {
            base.db.submit::<slips::beside>(&2).id(id).key(key).await?
        });
    }
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        workers.push(start(lab, &base)?);
    }
    let mut dead = BTreeMap::new();
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
        let journal = lab.journal.read()?;
        let working: BTreeSet<u32> = journal.iter().map(|entry| entry.pid).collect();
        let victim = workers.iter_mut().find(|worker| working.contains(&worker.pid));
        let Some(victim) = victim.filter(|_| dead.len() < lab.either(5, 40)) else { continue };
        victim.kill9().await?;
        dead.insert(victim.pid, journal.len());
        *victim = start(lab, &base)?;
    }
    ensure!(dead.len() > 1, "only {} were killed", dead.len());
    let overlaps = overlaps(&lab.journal.read()?, &dead);
    ensure!(overlaps.is_empty(), "keys were held twice: {overlaps:?}");
    Ok(metrics! { "jobs": jobs.len(), "kills": dead.len(), "overlaps": 0 })
}

/// Attempts that began while another of the same key was at work in a process that lived then. Lines stand in the order in which they
/// were written; who was killed did not live after so many.
fn overlaps(journal: &[Entry], dead: &BTreeMap<u32, usize>) -> Vec<String> {
    let (mut at_work, mut overlaps) = (BTreeMap::<String, (String, u32)>::new(), Vec::new());
    for (at, entry) in journal.iter().enumerate() {
        let key = entry.run.rsplit("of ").next().unwrap_or_default().to_owned();
        match entry.what {
            What::Entered => {
                let new = (entry.run.clone(), entry.pid);
                if let Some((job, pid)) = at_work.insert(key, new)
                    && dead.get(&pid).is_none_or(|lines| at < *lines)
                {
                    overlaps.push(format!("{} began while {job} was at work", entry.run));
                }
            }
            What::Left | What::Told => drop(at_work.remove(&key)),
        }
    }
    overlaps
}
