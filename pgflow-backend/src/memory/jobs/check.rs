//! What cannot be of jobs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use pgflow_machine::RunId;
use pgflow_machine::job::{Dependency, JobId, JobState, rings};

use super::{JobData, LiveJob};

impl JobData {
    /// What is wrong, as sentences; as the checkers of the databases have it.
    pub(in crate::memory) fn problems(&self, is_open: impl Fn(RunId) -> bool) -> Vec<String> {
        let mut found: Vec<_> =
            self.jobs.iter().flat_map(|(id, job)| self.problems_of(id, job)).collect();
        found.extend(self.problems_of_edges(is_open));
        found.extend(self.problems_of_keys());
        let ready = self.ready.values().map(BTreeSet::len).sum::<usize>();
        let asleep = self.asleep.values().map(BTreeSet::len).sum::<usize>();
        let expected = [ready, asleep, self.leases.len()];
        let states = [JobState::Ready, JobState::Sleeping, JobState::Leased];
        for (state, indexed) in states.into_iter().zip(expected) {
            let jobs = self.jobs.values().filter(|job| job.row.state == state).count();
            if jobs != indexed {
                found.push(format!("{jobs} jobs are {}, but {indexed} are found so", state.word()));
            }
        }
        found.sort_unstable();
        found
    }

    fn problems_of(&self, id: &JobId, job: &LiveJob) -> Vec<String> {
        let (row, mut found) = (&job.row, Vec::new());
        let open = self.waits.get(id).map_or(0, BTreeMap::len);
        if row.waits as usize != open {
            found.push(format!(
                "job {id}: waits is {}, but {open} dependencies are open",
                row.waits
            ));
        }
        if self.archive.contains_key(id) {
            found.push(format!("job {id} is live and archived"));
        }
        if (row.state == JobState::Leased) != row.lease.is_some() {
            let state = row.state.word();
            found.push(format!("job {id} is {state}, but its lease is not as it should be"));
        }
        if row.state == JobState::Sleeping && row.wake_at.is_none() {
            found.push(format!("job {id} sleeps without a moment to wake"));
        }
        found.extend(row.key.as_ref().and_then(|key| self.problem_of_line(id, job, key)));
        found
    }

    /// What is wrong with a job's place in the line of its key.
    fn problem_of_line(&self, id: &JobId, job: &LiveJob, key: &String) -> Option<String> {
        let (row, holder) = (&job.row, self.keys.get(key));
        let place =
            |id: &JobId, job: &LiveJob| (Reverse(job.row.priority), job.row.seq, id.clone());
        let is_head = |(other, it): &(&JobId, &LiveJob)| {
            let is_of_line = it.row.key.as_ref() == Some(key) && it.row.need == row.need;
            is_of_line && *other != id && it.row.state == JobState::Ready
        };
        let mut heads = self.jobs.iter().filter(is_head);
        match row.state {
            JobState::Leased if holder != Some(id) => {
                Some(format!("job {id} is leased and does not hold its key {key}"))
            }
            JobState::Ready if holder.is_some() => {
                Some(format!("job {id} is ready, but its key is held"))
            }
            JobState::Ready if heads.next().is_some() => {
                Some(format!("job {id} is one of several heads of key {key}"))
            }
            JobState::Parked
                if holder.is_none()
                    && !heads.any(|(other, it)| place(other, it) < place(id, job)) =>
            {
                Some(format!("job {id} is parked behind nobody"))
            }
            _ => None,
        }
    }

    /// Nobody goes on until somebody decides.
    fn problem_of_wait(&self, waiter: &JobId, on: &JobId) -> Option<String> {
        let is_concern = self.jobs.get(on)?.row.state == JobState::Concern;
        is_concern.then(|| format!("job {on} is in crash concern, and job {waiter} waits for it"))
    }

    fn problems_of_edges(&self, is_open: impl Fn(RunId) -> bool) -> Vec<String> {
        let mut found = Vec::new();
        let mut pairs = Vec::new();
        for (on, waiters) in &self.edges {
            for waiter in waiters.keys() {
                if !self.waits.get(waiter).is_some_and(|waits| waits.contains_key(on)) {
                    found.push(format!("job {waiter} does not know that it waits for {on}"));
                }
                if !self.jobs.contains_key(waiter) {
                    found.push(format!("job {waiter} waits, but is not there"));
                }
                let is_over = match on {
                    Dependency::Job(job) => !self.jobs.contains_key(job),
                    Dependency::Run(run) => !is_open(*run),
                };
                if is_over {
                    found.push(format!("job {waiter} waits for {on}, which is over"));
                }
                found.extend(on.job().and_then(|job| self.problem_of_wait(waiter, job)));
                pairs.extend(on.job().map(|job| (waiter.clone(), job.clone())));
            }
        }
        let in_rings = rings(pairs).into_iter();
        found.extend(in_rings.map(|id| format!("job {id} waits for itself, through others")));
        found
    }

    fn problems_of_keys(&self) -> impl Iterator<Item = String> {
        let has_it = |key: &String, job: &LiveJob| {
            job.row.key.as_ref() == Some(key) && job.row.state == JobState::Leased
        };
        let is_wrong = move |(key, holder): &(&String, &JobId)| {
            !self.jobs.get(*holder).is_some_and(|job| has_it(key, job))
        };
        let wrong = self.keys.iter().filter(is_wrong);
        wrong.map(|(key, holder)| format!("key {key} is held by {holder}, which has no lease"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pgflow_machine::job::{JobClaim, NewJob, Policy, Wait};

    use super::super::{EndedJob, JobOutcome};
    use super::*;
    use crate::backend::{Jobs, Upkeep};
    use crate::memory::Memory;

    fn id(name: &str) -> JobId {
        name.parse().expect("a name")
    }

    fn job(name: &str, need: &str, key: Option<&str>) -> NewJob {
        NewJob { key: key.map(str::to_owned), ..NewJob::new(id(name), need, 1) }
    }

    /// Jobs of every kind.
    async fn filled() -> Memory {
        let memory = Memory::new();
        let hour = pgflow_machine::job::Moment::In(Duration::from_hours(1));
        let jobs = [
            job("leased", "n", Some("k")),
            job("parked", "n", Some("k")),
            job("head", "m", Some("h")),
            job("behind", "m", Some("h")),
            job("ready", "m", None),
            NewJob { wake: Some(hour), ..job("asleep", "m", None) },
            NewJob { after: vec![Wait::job(id("ready"))], ..job("waiting", "m", None) },
        ];
        memory.submit_jobs(&jobs, "me").await.expect("jobs");
        let (worker, needs) = ("w".to_owned(), vec!["n".to_owned()]);
        let claim = JobClaim { worker, needs, lease: Duration::from_mins(1), max: 1 };
        assert_eq!(memory.claim_jobs(&claim).await.expect("a claim").jobs.len(), 1);
        memory
    }

    type Break = fn(&mut JobData);

    fn live<'d>(data: &'d mut JobData, name: &str) -> &'d mut LiveJob {
        data.jobs.get_mut(&id(name)).expect("it is there")
    }

    const BREAKS: &[(&str, Break)] = &[
        ("job waiting: waits is 2, but 1", |data| live(data, "waiting").row.waits += 1),
        ("job leased is leased, but its lease", |data| live(data, "leased").row.lease = None),
        ("job ready is leased, but its lease", |data| {
            live(data, "ready").row.state = JobState::Leased;
        }),
        ("job asleep sleeps without a moment", |data| live(data, "asleep").row.wake_at = None),
        ("1 jobs are sleeping, but 0", |data| data.asleep.clear()),
        ("2 jobs are ready, but 3", |data| {
            let place = (Reverse(0), live(data, "leased").row.seq, id("leased"));
            data.ready.entry("n".into()).or_default().insert(place);
        }),
        ("job leased is leased and does not hold its key k", |data| data.keys.clear()),
        ("key k is held by ready, which has no lease", |data| {
            data.keys.insert("k".into(), id("ready"));
        }),
        ("job parked is ready, but its key is held", |data| {
            live(data, "parked").row.state = JobState::Ready;
        }),
        ("job behind is one of several heads of key h", |data| {
            live(data, "behind").row.state = JobState::Ready;
        }),
        ("job head is parked behind nobody", |data| {
            live(data, "head").row.state = JobState::Parked;
        }),
        ("job ready is live and archived", |data| {
            let live = data.displace(&id("ready")).expect("it is there");
            let copy = LiveJob { row: live.row.clone(), payload: 1.into(), error: None };
            let (outcome, ended_at) = (JobOutcome::Done, live.row.created_at);
            data.archive
                .insert(id("ready"), EndedJob { live: copy, outcome, output: None, ended_at });
            data.place(&id("ready"), live);
        }),
        ("job waiting waits for job ready, which is over", |data| {
            data.displace(&id("ready"));
        }),
        ("job ghost waits, but is not there", |data| {
            let on = Dependency::Job(id("ready"));
            data.edges.entry(on).or_default().insert(id("ghost"), Policy::Release);
        }),
        ("job waiting does not know that it waits", |data| data.waits.clear()),
        ("job waiting waits for itself, through others", |data| {
            let on = Dependency::Job(id("waiting"));
            data.edges.entry(on).or_default().insert(id("ready"), Policy::Release);
        }),
    ];

    #[tokio::test]
    async fn what_is_wrong_is_found() {
        for (expected, broken) in BREAKS {
            let memory = filled().await;
            assert_eq!(memory.check().await.expect("it can be checked"), [""; 0]);
            broken(&mut memory.shared.data().jobs);
            let found = memory.check().await.expect("it can be checked");
            assert!(found.iter().any(|it| it.contains(expected)), "{expected}: {found:?}");
        }
    }
}
