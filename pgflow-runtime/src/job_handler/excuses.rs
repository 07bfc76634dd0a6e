//! Jobs and messages that cannot go on because the database is in trouble.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pgflow_machine::job::{JobHold, JobId};
use pgflow_machine::{Lease, Verdict};
use tokio::time::{Instant, sleep};

use crate::backend::Backend;
use crate::worker::Ended;
use crate::worker::excuses::{Excuse, Excuses, MOST, Sight};

/// How long a job waits that may have been unlucky, at first and at most: it keeps its lease and its slot, because what comes after it
/// with its key must not overtake it. It doubles in between.
const WAIT: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));
/// How many such jobs are known, and for how long after they were met: others may have ended them.
const KNOWN: (usize, Duration) = (10_000, Duration::from_mins(10));

/// Failures that are not held against jobs and messages.
#[derive(Debug, Default)]
pub(crate) struct JobExcuses {
    excuses: Excuses,
    unlucky: Mutex<Unlucky>,
}

/// How often jobs were excused for something that only they met a reason for. Jobs do not count attempts that were given back, so
/// each process counts for itself.
#[derive(Debug, Default)]
struct Unlucky(HashMap<JobId, (u32, Instant)>);

impl Unlucky {
    /// How often it is with this time, unless that is too often.
    fn again(&mut self, jobs: &[&JobId], now: Instant) -> Option<u32> {
        if self.0.len() + jobs.len() > KNOWN.0 {
            self.0.retain(|_, (_, at)| now.duration_since(*at) < KNOWN.1);
        }
        let known = jobs.iter().filter_map(|job| self.0.get(*job));
        let times = known.map(|(times, _)| *times).max().unwrap_or(0) + 1;
        let has_room = self.0.len() + jobs.len() <= KNOWN.0;
        if times >= MOST || !has_room {
            return None;
        }
        self.0.extend(jobs.iter().map(|job| ((*job).clone(), (times, now))));
        Some(times)
    }

    fn forget(&mut self, jobs: &[&JobId]) {
        for job in jobs {
            self.0.remove(*job);
        }
    }
}

impl JobExcuses {
    /// The database is in trouble, and the attempt has no part in it: it is given back after a while, and none is used up.
    pub(crate) async fn held_up(&self, doing: &'static str, error: &str) -> Ended {
        sleep(self.excuses.delay(doing, error)).await;
        Ended::Verdict(Verdict::Released)
    }

    /// Whether the same goes for something that the attempt met: a second look finds the database in trouble as well, or that cannot
    /// be found out and did not happen too often. It has waited then.
    pub(crate) async fn is_excused(
        &self,
        backend: &Arc<dyn Backend>,
        lease: Lease,
        excuse: &Excuse,
    ) -> bool {
        let times = match excuse.look(backend, lease.clone()).await {
            Sight::Trouble => {
                sleep(self.excuses.delay(excuse.doing, &excuse.error)).await;
                return true;
            }
            Sight::Gone => return true,
            Sight::Unclear => self.of_unlucky(|known| known.again(&jobs(&lease), Instant::now())),
            Sight::Well => None,
        };
        let Some(times) = times else {
            self.of_unlucky(|known| known.forget(&jobs(&lease)));
            return false;
        };
        self.excuses.delay(excuse.doing, &excuse.error);
        sleep(patience(times)).await;
        true
    }

    /// The database recorded an attempt: it is not in trouble.
    pub(crate) fn recorded(&self, lease: &Lease) {
        self.excuses.recorded();
        self.of_unlucky(|known| known.forget(&jobs(lease)));
    }

    fn of_unlucky<T>(&self, look: impl FnOnce(&mut Unlucky) -> T) -> T {
        look(&mut self.unlucky.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn jobs(lease: &Lease) -> Vec<&JobId> {
    let holds: &[JobHold] = match lease {
        Lease::Job { hold, .. } => std::slice::from_ref(hold),
        Lease::Messages(lease) => &lease.holds,
        Lease::Task(_) => &[],
    };
    holds.iter().map(|hold| &hold.job).collect()
}

fn patience(times: u32) -> Duration {
    WAIT.1.min(WAIT.0 * 2_u32.pow(times.saturating_sub(1).min(10)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_runs_out() {
        let (mut known, now) = (Unlucky::default(), Instant::now());
        let (one, other): (JobId, JobId) = ("one".parse().unwrap(), "other".parse().unwrap());
        for times in 1..MOST {
            assert_eq!(known.again(&[&one], now), Some(times));
        }
        assert_eq!(known.again(&[&other], now), Some(1), "each on its own");
        assert_eq!(known.again(&[&other, &one], now), None, "a batch is as old as its oldest");
        known.forget(&[&one]);
        assert_eq!(known.again(&[&one], now), Some(1), "an attempt was used up, or recorded");
    }

    #[test]
    fn not_too_many_are_known() {
        let (mut known, now) = (Unlucky::default(), Instant::now());
        let ids = (0..=KNOWN.0).map(|n| n.to_string().parse().unwrap());
        let ids: Vec<JobId> = ids.collect();
        assert!(ids[1..].iter().all(|id| known.again(&[id], now).is_some()));
        assert_eq!(known.again(&[&ids[0]], now), None, "what is not counted has no end");
        assert_eq!(known.again(&[&ids[0]], now + KNOWN.1), Some(1), "the others are over");
    }

    #[test]
    fn a_slot_is_not_kept_for_long() {
        assert!((1..MOST).all(|nth| patience(nth) <= patience(nth + 1)));
        let all: Duration = (1..MOST).map(patience).sum();
        assert!(all > Duration::from_mins(1) && all < Duration::from_mins(2), "{all:?}");
    }
}
