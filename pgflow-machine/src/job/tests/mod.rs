//! What commands decide about jobs.

mod claims;
mod keys;
mod lapses;
mod operators;
mod settles;
mod submits;
mod waits;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::{Command, Limits, RunId, RunStatus, Timestamp};

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);
const MINUTE: Duration = Duration::from_mins(1);

fn id(text: &str) -> JobId {
    text.parse().expect("a name")
}

fn job(name: &str, need: &str) -> NewJob {
    NewJob::new(id(name), need, json!({ "of": name }))
}

fn keyed(name: &str, need: &str, key: &str) -> NewJob {
    NewJob { key: Some(key.into()), ..job(name, need) }
}

fn after(name: &str, need: &str, waits: impl IntoIterator<Item = Wait>) -> NewJob {
    NewJob { after: waits.into_iter().collect(), ..job(name, need) }
}

fn on(name: &str) -> Wait {
    Wait::job(id(name))
}

/// A store in its simplest form.
#[derive(Default)]
struct Bench {
    settings: JobSettings,
    /// Needs that are queues.
    queues: BTreeSet<String>,
    now: Timestamp,
    jobs: BTreeMap<JobId, JobRow>,
    payloads: HashMap<JobId, Value>,
    errors: HashMap<JobId, String>,
    outputs: HashMap<JobId, Value>,
    archive: BTreeMap<JobId, ArchivedJob>,
    edges: Vec<Edge>,
    keys: BTreeMap<String, JobId>,
    runs: HashMap<RunId, RunStatus>,
    trace: Vec<TraceEntry>,
    last_seq: i64,
    /// Rows that loads have given out so far.
    loaded: usize,
}

impl Bench {
    fn new() -> Self {
        Self { now: NOW, ..Self::default() }
    }

    /// As a store does it.
    fn run<C: Command<Jobs>>(&mut self, command: &C) -> C::Answer {
        let mut rows = JobRows::new(self.settings);
        let mut needs = rows.missing(command.needs());
        while !needs.is_empty() {
            self.load(&needs, &mut rows);
            needs = rows.missing(command.more(&rows));
        }
        rows.queues = &rows.needs_in_danger() & &self.queues;
        let (answer, writes) = command.decide(&mut rows, self.now).expect("a decision");
        self.write(&rows, writes);
        self.check();
        answer
    }

    fn load(&mut self, needs: &JobNeeds, rows: &mut JobRows) {
        let runs = needs.runs.iter().filter_map(|run| Some((*run, *self.runs.get(run)?)));
        rows.runs.extend(runs);
        let mut wanted: HashSet<JobId> = needs.jobs.iter().cloned().collect();
        for (key, many) in &needs.lines {
            wanted.extend(self.line(key, *many));
        }
        self.loaded += wanted.len();
        for id in wanted {
            if let Some(row) = self.jobs.get(&id) {
                rows.jobs.insert(id, row.clone());
            } else if let Some(archived) = self.archive.get(&id) {
                rows.archived.insert(id, archived.clone());
            }
        }
        for key in &needs.keys {
            rows.keys.insert(key.clone(), self.keys.get(key).cloned());
        }
        for edge in &self.edges {
            if needs.waiters.contains(&edge.wait.on) {
                let waiters = rows.waiters.entry(edge.wait.on.clone()).or_default();
                waiters.push((edge.waiter.clone(), edge.wait.policy));
                self.loaded += 1;
            }
        }
        self.walk(needs, rows);
    }

    fn walk(&self, needs: &JobNeeds, rows: &mut JobRows) {
        let mut next: Vec<_> = needs.waits.iter().collect();
        while let Some(id) = next.pop().filter(|_| rows.waits.len() < RING_WALK) {
            let on =
                || self.edges.iter().filter(|edge| edge.waiter == *id).map(|edge| &edge.wait.on);
            if rows.waits.insert(id.clone(), on().cloned().collect()).is_none() {
                next.extend(on().filter_map(Dependency::job));
            }
        }
    }

    fn line(&self, key: &str, many: usize) -> Vec<JobId> {
        let mut needs: BTreeMap<&str, Vec<(&JobId, &JobRow)>> = BTreeMap::new();
        for (id, row) in &self.jobs {
            if row.key.as_deref() == Some(key) {
                needs.entry(&row.need).or_default().push((id, row));
            }
        }
        let mut line = Vec::new();
        for mut jobs in needs.into_values() {
            jobs.sort_by_key(|(_, row)| row.place());
            let of = |state| {
                let jobs = jobs.iter().filter(move |(_, row)| row.state == state);
                jobs.map(|(id, _)| (*id).clone())
            };
            line.extend(of(JobState::Ready).chain(of(JobState::Parked).take(many)));
        }
        line
    }

    fn write(&mut self, rows: &JobRows, writes: JobWrites<'_>) {
        for id in writes.inserted {
            self.last_seq += 1;
            let seq = Seq::Given(self.last_seq);
            let row = JobRow { seq, ..rows.row(&id).expect("a row").clone() };
            assert!(self.jobs.insert(id, row).is_none());
        }
        for id in &writes.restored {
            assert!(self.archive.remove(id).is_some());
            self.jobs.insert(id.clone(), rows.row(id).expect("a row").clone());
        }
        for id in writes.updated.union(&writes.leases) {
            self.jobs.insert(id.clone(), rows.row(id).expect("a row").clone());
        }
        self.payloads.extend(writes.payloads.into_iter().map(|(id, value)| (id, value.clone())));
        self.errors.extend(writes.errors);
        self.edges.retain(|edge| !writes.over.contains(&edge.wait.on));
        self.edges.retain(|edge| !writes.freed.contains(&edge.waiter));
        self.edges.extend(writes.edges);
        for ArchiveWrite { id, outcome, output } in writes.archived {
            let mut row = self.jobs.remove(&id).expect("a live job");
            row.settled.clone_from(&rows.row(&id).expect("a row").settled);
            self.archive.insert(id.clone(), ArchivedJob { row, outcome });
            self.outputs.extend(output.map(|output| (id, output.clone())));
        }
        for key in writes.keys {
            match &rows.keys[&key] {
                Some(holder) => drop(self.keys.insert(key, holder.clone())),
                None => drop(self.keys.remove(&key)),
            }
        }
        self.trace.extend(writes.trace);
    }

    /// What must hold at any time.
    fn check(&self) {
        let leased = self.jobs.iter().filter(|(_, row)| row.lease.is_some());
        let held = leased.filter_map(|(id, row)| Some((row.key.clone()?, id.clone())));
        assert_eq!(held.collect::<BTreeMap<_, _>>(), self.keys, "keys are held by who is leased");
        let mut edges: HashMap<&JobId, u32> = HashMap::new();
        for edge in &self.edges {
            *edges.entry(&edge.waiter).or_default() += 1;
        }
        let mut heads: HashMap<_, Vec<_>> = HashMap::new();
        for row in self.jobs.values().filter(|row| row.state == JobState::Ready) {
            heads.entry((&row.key, &row.need)).or_default().push(row.place());
        }
        for (id, row) in &self.jobs {
            let edges = edges.get(id).copied().unwrap_or_default();
            assert_eq!(row.waits, edges, "{id} waits for its edges");
            assert_eq!(row.waits > 0, row.state == JobState::Waiting, "{id} is {}", row.state);
            assert_eq!(row.lease.is_some(), row.state == JobState::Leased, "{id}");
            let heads = heads.get(&(&row.key, &row.need)).map_or(&[][..], Vec::as_slice);
            let is_held = row.key.as_ref().is_some_and(|key| self.keys.contains_key(key));
            if row.state == JobState::Parked {
                let is_behind = heads.iter().any(|head| *head < row.place());
                assert!(is_held || is_behind, "{id} is parked behind nobody");
            }
            if row.state == JobState::Ready && row.key.is_some() {
                assert!(!is_held, "{id} is ready while its key is held");
                assert_eq!(heads.len(), 1, "{id} is one of several heads");
            }
        }
        for edge in &self.edges {
            let is_over = match &edge.wait.on {
                Dependency::Job(job) => !self.jobs.contains_key(job),
                Dependency::Run(run) => self.runs[run].has_ended(),
            };
            assert!(!is_over, "{} waits for {}, which is over", edge.waiter, edge.wait.on);
            assert!(self.jobs.contains_key(&edge.waiter), "who waits is there");
        }
        for id in self.archive.keys() {
            assert!(!self.jobs.contains_key(id), "{id} is there twice");
        }
    }

    fn submit(&mut self, jobs: &[NewJob]) {
        let answers = self.try_submit(jobs);
        assert!(answers.iter().all(|answer| *answer == Ok(Submitted::Submitted)), "{answers:?}");
    }

    fn try_submit(&mut self, jobs: &[NewJob]) -> Vec<Result<Submitted, JobProblem>> {
        self.run(&Submit { jobs, by: "client", limits: Limits::default() })
    }

    /// Claims as stores do: what has lapsed, what is due, then what is ready.
    fn claim(&mut self, needs: &[&str], max: usize) -> Vec<JobHold> {
        let find = |bench: &Self, test: &dyn Fn(&JobRow) -> bool| -> Vec<JobId> {
            let jobs = bench.jobs.iter().filter(|(_, row)| needs.contains(&&*row.need));
            jobs.filter(|(_, row)| test(row)).map(|(id, _)| id.clone()).collect()
        };
        let now = self.now;
        let lapsed = find(self, &|row| row.has_lapsed(now));
        self.run(&LapseJobs { jobs: &lapsed });
        let due = find(self, &|row| {
            row.state == JobState::Sleeping && row.wake_at.is_some_and(|wake_at| wake_at <= now)
        });
        self.run(&WakeJobs { jobs: &due });
        let mut candidates = find(self, &|row| row.state == JobState::Ready);
        candidates.sort_by_key(|id| self.jobs[id].place());
        let tokens: Vec<_> = (0..max).map(|_| JobToken::new()).collect();
        let take =
            TakeJobs { candidates: &candidates, tokens: &tokens, worker: "w", lease: MINUTE };
        self.run(&take).into_iter().map(|taken| taken.hold).collect()
    }

    fn names(&mut self, needs: &[&str], max: usize) -> Vec<String> {
        self.claim(needs, max).iter().map(|hold| hold.job.to_string()).collect()
    }

    fn take(&mut self, name: &str) -> JobHold {
        let need = self.jobs[name].need.clone();
        let hold = self.claim(&[&need], 1).pop().expect("a job");
        assert_eq!(hold.job.as_str(), name);
        hold
    }

    fn settle(&mut self, hold: &JobHold, verdict: JobVerdict) -> JobSettled {
        let settles = [JobSettle::new(hold.clone(), verdict)];
        self.settle_all(&settles).pop().expect("an outcome")
    }

    fn settle_all(&mut self, settles: &[JobSettle]) -> Vec<JobSettled> {
        self.run(&SettleJobs { settles, by: "w", limits: Limits::default() })
    }

    fn finish(&mut self, hold: &JobHold) {
        assert_eq!(self.settle(hold, done()), JobSettled::Applied);
    }

    fn cancel(&mut self, name: &str) -> JobCancelled {
        self.run(&CancelJobs { jobs: &[id(name)], by: "me", reason: Some("why not") })[0]
    }

    fn status(&self, name: &str) -> JobStatus {
        self.jobs[name].status(self.now)
    }

    fn state(&self, name: &str) -> JobState {
        self.jobs[name].state
    }

    fn outcome(&self, name: &str) -> Option<JobOutcome> {
        self.archive.get(name).map(|archived| archived.outcome)
    }

    fn kinds(&self, name: &str) -> Vec<&'static str> {
        let of_job = self.trace.iter().filter(|entry| entry.job.as_str() == name);
        of_job.map(|entry| entry.kind.word()).collect()
    }

    fn pass(&mut self, time: Duration) {
        self.now = self.now + time;
    }
}

fn done() -> JobVerdict {
    JobVerdict::Finished(json!("out"))
}

fn failed(retry: JobRetry) -> JobVerdict {
    JobVerdict::Failed { error: "no".into(), retry }
}

fn hand_over(need: &str, waits: impl IntoIterator<Item = Wait>) -> JobVerdict {
    JobVerdict::HandedOver(HandOver { after: waits.into_iter().collect(), ..HandOver::to(need) })
}
