//! What is kept of jobs, and where claims, sweeps and lines find them.

mod check;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use pgflow_machine::job::{
    ArchiveWrite, ArchivedJob, Dependency, Edge, JobHold, JobId, JobNeeds, JobOutcome, JobRow,
    JobRows, JobSettings, JobState, JobToken, JobWrites, Policy, RING_WALK, ReadyJob, Seq, Wait,
};
use pgflow_machine::{RunId, RunStatus, Timestamp, payload_bytes};
use serde_json::Value;

use crate::backend::{JobEvent, JobQuery, JobRecord, JobStanding, JobSummary, JobsOf};

/// A place in the line of a need.
type LineKey = (Reverse<i32>, Seq, JobId);

#[derive(Debug, Default)]
pub(super) struct JobData {
    pub(super) settings: JobSettings,
    /// Needs that are paused: since when, and who said so.
    pub(super) paused: BTreeMap<String, (Timestamp, String)>,
    jobs: HashMap<JobId, LiveJob>,
    archive: HashMap<JobId, EndedJob>,
    /// Live jobs and archived ones by their places.
    by_seq: BTreeMap<Seq, JobId>,
    ended_by_seq: BTreeMap<Seq, JobId>,
    by_end: BTreeSet<(Timestamp, JobId)>,
    ready: BTreeMap<String, BTreeSet<LineKey>>,
    asleep: BTreeMap<String, BTreeSet<(Timestamp, JobId)>>,
    leases: BTreeSet<(Timestamp, JobId)>,
    expiring: BTreeSet<(Timestamp, JobId)>,
    /// Ready and parked jobs by key, need and state.
    lines: BTreeMap<(String, String, JobState), BTreeSet<LineKey>>,
    edges: BTreeMap<Dependency, BTreeMap<JobId, Policy>>,
    waits: HashMap<JobId, BTreeMap<Dependency, Policy>>,
    keys: HashMap<String, JobId>,
    trace: HashMap<JobId, Vec<JobEvent>>,
    last_seq: i64,
    last_event: u64,
}

#[derive(Debug)]
struct LiveJob {
    row: JobRow,
    payload: Value,
    error: Option<String>,
}

#[derive(Debug)]
struct EndedJob {
    live: LiveJob,
    outcome: JobOutcome,
    output: Option<Value>,
    ended_at: Timestamp,
}

impl JobData {
    pub(super) fn load(
        &self,
        needs: &JobNeeds,
        rows: &mut JobRows,
        run: impl Fn(RunId) -> Option<RunStatus>,
    ) {
        rows.runs.extend(needs.runs.iter().filter_map(|id| Some((*id, run(*id)?))));
        for id in &needs.jobs {
            self.load_job(id, rows);
        }
        for key in &needs.keys {
            rows.keys.insert(key.clone(), self.keys.get(key).cloned());
        }
        for (key, many) in &needs.lines {
            for id in self.line(key, *many) {
                self.load_job(id, rows);
            }
        }
        for on in &needs.waiters {
            let edges = self.edges.get(on).into_iter().flatten();
            let waiters = edges.map(|(waiter, policy)| (waiter.clone(), *policy)).collect();
            rows.waiters.insert(on.clone(), waiters);
        }
        self.walk(needs, rows);
    }

    fn load_job(&self, id: &JobId, rows: &mut JobRows) {
        if let Some(job) = self.jobs.get(id) {
            rows.jobs.insert(id.clone(), job.row.clone());
        } else if let Some(ended) = self.archive.get(id) {
            let row = ended.live.row.clone();
            rows.archived.insert(id.clone(), ArchivedJob { row, outcome: ended.outcome });
        }
    }

    /// Of each need: what is ready, and so many that are parked.
    fn line(&self, key: &str, many: usize) -> impl Iterator<Item = &JobId> {
        let first = (key.to_owned(), String::new(), JobState::Ready);
        let of_key = self.lines.range(first..).take_while(move |((of, ..), _)| of == key);
        of_key.flat_map(move |((.., state), places)| {
            let most = if *state == JobState::Ready { usize::MAX } else { many };
            places.iter().take(most).map(|(.., id)| id)
        })
    }

    /// What jobs wait for, and so on.
    fn walk(&self, needs: &JobNeeds, rows: &mut JobRows) {
        let mut next: Vec<_> = needs.waits.iter().collect();
        let mut left = RING_WALK;
        while let Some(id) = next.pop().filter(|_| left > 0) {
            let on = self.waits.get(id).into_iter().flat_map(BTreeMap::keys);
            left -= 1;
            if rows.waits.insert(id.clone(), on.clone().cloned().collect()).is_none() {
                next.extend(on.filter_map(Dependency::job));
            }
        }
    }

    pub(super) fn write(&mut self, now: Timestamp, rows: &JobRows, writes: JobWrites<'_>) {
        let mut payloads = writes.payloads;
        let row = |id: &JobId| rows.row(id).cloned();
        for id in writes.inserted {
            self.last_seq += 1;
            let payload = payloads.remove(&id).cloned().unwrap_or_default();
            if let Some(row) = row(&id) {
                let row = JobRow { seq: Seq::Given(self.last_seq), ..row };
                self.place(&id, LiveJob { row, payload, error: None });
            }
        }
        for id in writes.restored {
            if let (Some(ended), Some(row)) = (self.forget(&id), row(&id)) {
                self.place(&id, LiveJob { row, ..ended.live });
            }
        }
        for id in writes.updated.union(&writes.leases) {
            if let (Some(live), Some(row)) = (self.displace(id), row(id)) {
                // A job that was inserted just now has its place already.
                let row = JobRow { seq: live.row.seq, ..row };
                self.place(id, LiveJob { row, ..live });
            }
        }
        for (id, payload) in payloads {
            if let Some(job) = self.jobs.get_mut(&id) {
                job.payload = payload.clone();
            }
        }
        for (id, error) in writes.errors {
            if let Some(job) = self.jobs.get_mut(&id) {
                job.error = Some(error);
            }
        }
        writes.over.iter().for_each(|on| self.drop_edges_to(on));
        writes.freed.iter().for_each(|id| self.drop_edges_of(id));
        for Edge { waiter, wait } in writes.edges {
            self.edges.entry(wait.on.clone()).or_default().insert(waiter.clone(), wait.policy);
            self.waits.entry(waiter).or_default().insert(wait.on, wait.policy);
        }
        for write in writes.archived {
            self.archive(now, rows, write);
        }
        for key in writes.keys {
            match rows.keys.get(&key).cloned().flatten() {
                Some(holder) => drop(self.keys.insert(key, holder)),
                None => drop(self.keys.remove(&key)),
            }
        }
        for entry in writes.trace {
            self.last_event += 1;
            let event = JobEvent {
                number: self.last_event,
                at: now,
                kind: entry.kind,
                by: entry.by,
                token: entry.token,
                detail: entry.detail,
            };
            self.trace.entry(entry.job).or_default().push(event);
        }
    }

    fn archive(&mut self, now: Timestamp, rows: &JobRows, write: ArchiveWrite<'_>) {
        let ArchiveWrite { id, outcome, output } = write;
        let (Some(live), Some(row)) = (self.displace(&id), rows.row(&id)) else { return };
        let row = JobRow { seq: live.row.seq, ..row.clone() };
        self.ended_by_seq.insert(row.seq, id.clone());
        self.by_end.insert((now, id.clone()));
        let (live, output) = (LiveJob { row, ..live }, output.cloned());
        self.archive.insert(id, EndedJob { live, outcome, output, ended_at: now });
    }

    fn drop_edges_to(&mut self, on: &Dependency) {
        for waiter in self.edges.remove(on).unwrap_or_default().into_keys() {
            if let Some(waits) = self.waits.get_mut(&waiter) {
                waits.remove(on);
                if waits.is_empty() {
                    self.waits.remove(&waiter);
                }
            }
        }
    }

    fn drop_edges_of(&mut self, waiter: &JobId) {
        for on in self.waits.remove(waiter).unwrap_or_default().into_keys() {
            if let Some(waiters) = self.edges.get_mut(&on) {
                waiters.remove(waiter);
                if waiters.is_empty() {
                    self.edges.remove(&on);
                }
            }
        }
    }

    /// Puts a job where claims, sweeps and lines look for it.
    fn place(&mut self, id: &JobId, job: LiveJob) {
        let row = &job.row;
        let place = (Reverse(row.priority), row.seq, id.clone());
        match row.state {
            JobState::Ready => {
                self.ready.entry(row.need.clone()).or_default().insert(place.clone());
            }
            JobState::Sleeping => {
                let wake_at = row.wake_at.unwrap_or_default();
                self.asleep.entry(row.need.clone()).or_default().insert((wake_at, id.clone()));
            }
            _ => {}
        }
        if let Some(line) = line_of(row) {
            self.lines.entry(line).or_default().insert(place);
        }
        self.leases.extend(row.lease.as_ref().map(|lease| (lease.until, id.clone())));
        self.expiring.extend(row.expires_at.map(|expires_at| (expires_at, id.clone())));
        self.by_seq.insert(row.seq, id.clone());
        self.jobs.insert(id.clone(), job);
    }

    /// Takes it away from there.
    fn displace(&mut self, id: &JobId) -> Option<LiveJob> {
        let job = self.jobs.remove(id)?;
        let row = &job.row;
        let place = (Reverse(row.priority), row.seq, id.clone());
        match row.state {
            JobState::Ready => remove(&mut self.ready, &row.need, &place),
            JobState::Sleeping => {
                remove(&mut self.asleep, &row.need, &(row.wake_at.unwrap_or_default(), id.clone()));
            }
            _ => {}
        }
        if let Some(line) = line_of(row) {
            remove(&mut self.lines, &line, &place);
        }
        if let Some(lease) = &row.lease {
            self.leases.remove(&(lease.until, id.clone()));
        }
        if let Some(expires_at) = row.expires_at {
            self.expiring.remove(&(expires_at, id.clone()));
        }
        self.by_seq.remove(&row.seq);
        Some(job)
    }

    fn forget(&mut self, id: &JobId) -> Option<EndedJob> {
        let ended = self.archive.remove(id)?;
        self.ended_by_seq.remove(&ended.live.row.seq);
        self.by_end.remove(&(ended.ended_at, id.clone()));
        Some(ended)
    }

    pub(super) fn ready(&self, needs: &[String], max: u32) -> Vec<ReadyJob> {
        let of_needs = needs.iter().filter_map(|need| self.ready.get(need));
        let mut found: Vec<&LineKey> =
            of_needs.flat_map(|places| places.iter().take(max as usize)).collect();
        found.sort_unstable();
        found.dedup();
        let ready = |(.., id): &LineKey| {
            let bytes = self.payload(id).map_or(0, payload_bytes);
            ReadyJob { id: id.clone(), bytes }
        };
        found.into_iter().take(max as usize).map(ready).collect()
    }

    pub(super) fn due(&self, now: Timestamp, needs: &[String], max: u32) -> Vec<JobId> {
        let of_needs = needs.iter().filter_map(|need| self.asleep.get(need));
        let due = of_needs.flat_map(|asleep| asleep.iter().take_while(|(at, _)| *at <= now));
        due.take(max as usize).map(|(_, id)| id.clone()).collect()
    }

    pub(super) fn lapsed(&self, now: Timestamp, needs: Option<&[String]>, max: u32) -> Vec<JobId> {
        let lapsed = self.leases.iter().take_while(|(until, _)| *until <= now);
        let is_meant = |id: &JobId| needs.is_none_or(|needs| self.keeps_from(id, needs));
        let lapsed = lapsed.filter(|(_, id)| is_meant(id));
        lapsed.take(max as usize).map(|(_, id)| id.clone()).collect()
    }

    /// Whether jobs of these needs can be had once this one is let go: itself, or those in line for its key.
    fn keeps_from(&self, id: &JobId, needs: &[String]) -> bool {
        let row = &self.jobs[id].row;
        let is_awaited = |key: &String| {
            let line = |need: &String| (key.clone(), need.clone(), JobState::Parked);
            needs.iter().any(|need| self.lines.contains_key(&line(need)))
        };
        needs.contains(&row.need) || row.key.as_ref().is_some_and(is_awaited)
    }

    pub(super) fn waiting_pairs(&self, max: u32) -> Vec<(JobId, JobId)> {
        let edges =
            self.waits.iter().flat_map(|(waiter, on)| on.keys().map(move |on| (waiter, on)));
        let pairs = edges.filter_map(|(waiter, on)| Some((waiter, on.job()?)));
        let pairs = pairs.filter(|(_, on)| self.waits.get(*on).is_some_and(|on| !on.is_empty()));
        pairs.take(max as usize).map(|(waiter, on)| (waiter.clone(), on.clone())).collect()
    }

    pub(super) fn awaited_runs(&self) -> impl Iterator<Item = RunId> {
        self.edges.keys().filter_map(|on| match on {
            Dependency::Run(run) => Some(*run),
            Dependency::Job(_) => None,
        })
    }

    pub(super) fn held(&self, worker: &str) -> Vec<JobHold> {
        let hold = |(_, id): &(Timestamp, JobId)| {
            let lease = self.jobs[id].row.lease.as_ref().filter(|lease| lease.worker == worker)?;
            Some(JobHold { job: id.clone(), token: lease.token.clone() })
        };
        self.leases.iter().filter_map(hold).collect()
    }

    pub(super) fn expired(&self, now: Timestamp, max: u32) -> Vec<JobId> {
        let expired = self.expiring.iter().take_while(|(at, _)| *at <= now);
        let unheld = expired.filter(|(_, id)| self.jobs[id].row.lease.is_none());
        unheld.take(max as usize).map(|(_, id)| id.clone()).collect()
    }

    pub(super) fn misjudged(
        &self,
        threshold: u32,
        max: u32,
        is_queue: impl Fn(&str) -> bool,
    ) -> Vec<JobId> {
        let threshold_of = |row: &JobRow| {
            if row.max_attempts.is_some() && is_queue(&row.need) { u32::MAX } else { threshold }
        };
        let is_misjudged = |row: &JobRow| row.is_on_wrong_side_of(threshold_of(row));
        let misjudged = self.jobs.iter().filter(|(_, job)| is_misjudged(&job.row));
        misjudged.take(max as usize).map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn next(&self, now: Timestamp, needs: &[String]) -> Option<Timestamp> {
        if needs.iter().any(|need| self.ready.contains_key(need)) {
            return Some(now);
        }
        let asleep = needs.iter().filter_map(|need| Some(self.asleep.get(need)?.first()?.0));
        let lapse = self.leases.iter().find(|(_, id)| self.keeps_from(id, needs));
        let lapse = lapse.map(|(until, _)| *until);
        asleep.chain(lapse).min()
    }

    /// Ready jobs of a need in their order, with their payloads.
    pub(super) fn waiting(&self, need: &str) -> impl Iterator<Item = (&JobId, &JobRow, &Value)> {
        let places = self.ready.get(need).into_iter().flatten();
        places.filter_map(|(.., id)| {
            let job = self.jobs.get(id)?;
            Some((id, &job.row, &job.payload))
        })
    }

    /// When the first sleeper of a need wakes or the first lease lapses that keeps jobs of it from being had.
    pub(super) fn next_change(&self, need: &str) -> Option<Timestamp> {
        let asleep = self.asleep.get(need).and_then(|asleep| asleep.first()).map(|(at, _)| *at);
        let needs = [need.to_owned()];
        let lapse = self.leases.iter().find(|(_, id)| self.keeps_from(id, &needs));
        asleep.into_iter().chain(lapse.map(|(until, _)| *until)).min()
    }

    /// The token of the lease of the job at this place.
    pub(super) fn lease_of(&self, seq: i64) -> Option<&JobToken> {
        let id = self.by_seq.get(&Seq::Given(seq))?;
        self.jobs.get(id)?.row.lease.as_ref().map(|lease| &lease.token)
    }

    /// Forgets those of these jobs that failed or crashed; says which.
    pub(super) fn forget_dead(&mut self, jobs: &[JobId]) -> Vec<JobId> {
        let is_dead = |id: &&JobId| self.archive.get(*id).is_some_and(|job| job.outcome.is_dead());
        // Who is named twice is forgotten once.
        let dead: BTreeSet<_> = jobs.iter().filter(is_dead).cloned().collect();
        for id in &dead {
            self.forget(id);
            self.trace.remove(id);
        }
        dead.into_iter().collect()
    }

    pub(super) fn payload(&self, id: &JobId) -> Option<&Value> {
        self.jobs.get(id).map(|job| &job.payload)
    }

    pub(super) fn record(&self, now: Timestamp, id: &JobId) -> Option<JobRecord> {
        let summary = self.summary(now, id)?;
        let ended = self.archive.get(id);
        let live = self.jobs.get(id).or_else(|| ended.map(|ended| &ended.live))?;
        let waits = self.waits.get(id).into_iter().flatten();
        Some(JobRecord {
            summary,
            payload: live.payload.clone(),
            output: ended.and_then(|ended| ended.output.clone()),
            waits_for: waits.map(|(on, policy)| Wait { on: on.clone(), policy: *policy }).collect(),
        })
    }

    fn summary(&self, now: Timestamp, id: &JobId) -> Option<JobSummary> {
        let of = |live: &LiveJob, standing, ended_at| JobSummary {
            id: id.clone(),
            standing,
            row: live.row.clone(),
            error: live.error.clone(),
            ended_at,
        };
        if let Some(live) = self.jobs.get(id) {
            return Some(of(live, JobStanding::Live(live.row.status(now)), None));
        }
        let ended = self.archive.get(id)?;
        Some(of(&ended.live, JobStanding::Ended(ended.outcome), Some(ended.ended_at)))
    }

    /// Live ones and archived ones.
    pub(super) fn all(&self, now: Timestamp) -> impl Iterator<Item = JobSummary> {
        let ids = self.jobs.keys().chain(self.archive.keys());
        ids.filter_map(move |id| self.summary(now, id))
    }

    pub(super) fn list(&self, now: Timestamp, query: &JobQuery) -> Vec<JobSummary> {
        let places = if query.of == JobsOf::Live { &self.by_seq } else { &self.ended_by_seq };
        let first = Seq::Given(query.after.map_or(i64::MIN, |after| after.saturating_add(1)));
        let found = places.range(first..).filter_map(|(_, id)| self.summary(now, id));
        let is_meant = |found: &JobSummary| {
            let is_of = match query.of {
                JobsOf::EndedAs(outcome) => found.standing == JobStanding::Ended(outcome),
                JobsOf::Live | JobsOf::Ended => true,
            };
            is_of && query.need.as_ref().is_none_or(|need| found.row.need == *need)
        };
        found.filter(is_meant).take(query.max as usize).collect()
    }

    pub(super) fn trace(&self, id: &JobId, after: u64, max: u32) -> Vec<JobEvent> {
        let events = self.trace.get(id).into_iter().flatten();
        events.filter(|event| event.number > after).take(max as usize).cloned().collect()
    }

    /// The last lines of it.
    pub(super) fn trace_end(&self, id: &JobId, max: u32) -> Vec<JobEvent> {
        let events = self.trace.get(id).map(Vec::as_slice).unwrap_or_default();
        events[events.len().saturating_sub(max as usize)..].to_vec()
    }

    /// Forgets old ones; says which.
    /// What ended by then.
    pub(super) fn ended_by(&self, moment: Timestamp) -> impl Iterator<Item = &JobId> {
        self.by_end.iter().take_while(move |(at, _)| *at <= moment).map(|(_, id)| id)
    }

    pub(super) fn prune(&mut self, id: &JobId) {
        self.forget(id);
        self.trace.remove(id);
    }
}

fn line_of(row: &JobRow) -> Option<(String, String, JobState)> {
    let is_in_line = matches!(row.state, JobState::Ready | JobState::Parked);
    let key = row.key.clone().filter(|_| is_in_line)?;
    Some((key, row.need.clone(), row.state))
}

fn remove<K: Ord, T: Ord>(sets: &mut BTreeMap<K, BTreeSet<T>>, key: &K, item: &T) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(item);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}
