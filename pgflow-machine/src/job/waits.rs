//! Who waits for whom.

use std::collections::{BTreeSet, VecDeque};

use serde_json::json;

use super::transition::{End, Transition};
use super::{
    Asked, Dependency, Edge, JobId, JobNeeds, JobOutcome, JobProblem, JobRows, JobSettle, JobState,
    JobVerdict, NewJob, Policy, TraceKind, Wait,
};
use crate::{Refusal, RunStatus};

/// So many jobs are looked at before a job may wait for another. A larger ring slips through, and the check of the
/// database reports it.
pub const RING_WALK: usize = 1000;

/// What a job waits for, looked at.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// What is not over.
    open: Vec<Wait>,
    /// The first that is over, ended otherwise than well, and takes the waiter with it.
    broken: Option<(Wait, &'static str)>,
}

/// What there is of a dependency.
enum Found {
    Nothing,
    Open,
    /// With the word for how, unless it ended well.
    Ended(Option<&'static str>),
}

impl JobNeeds {
    /// What a job has to look at before it waits for these.
    pub(super) fn dependencies(&mut self, waits: &[Wait]) {
        for wait in waits {
            match &wait.on {
                Dependency::Job(job) => self.jobs.insert(job.clone()),
                Dependency::Run(run) => self.runs.insert(*run),
            };
        }
    }

    /// What those wait for in turn, in case it is the job itself.
    pub(super) fn rings(&mut self, waits: &[Wait]) {
        self.waits.extend(waits.iter().filter_map(|wait| wait.on.job().cloned()));
    }

    /// What the end of these may lead to: whoever waits for them, whoever waits for those if they end too, and the lines
    /// of all their keys.
    pub(super) fn ends(&mut self, rows: &JobRows, ending: impl IntoIterator<Item = Dependency>) {
        let mut ending: Vec<_> = ending.into_iter().collect();
        let mut touched = BTreeSet::new();
        while let Some(dependency) = ending.pop() {
            if let Dependency::Job(job) = &dependency {
                touched.insert(job.clone());
            }
            let waiters = rows.waiters.get(&dependency).map_or(&[][..], Vec::as_slice);
            if !self.waiters.insert(dependency) {
                continue;
            }
            for (waiter, policy) in waiters {
                touched.insert(waiter.clone());
                if *policy != Policy::Release {
                    ending.push(Dependency::Job(waiter.clone()));
                }
            }
        }
        self.lines_of(rows, &touched);
        self.jobs.extend(touched);
    }

    /// The lines of the keys of these jobs.
    pub(super) fn lines_of<'j>(
        &mut self,
        rows: &JobRows,
        jobs: impl IntoIterator<Item = &'j JobId>,
    ) {
        for key in jobs.into_iter().filter_map(|id| rows.row(id)?.key.as_deref()) {
            self.line(key);
        }
    }
}

/// Jobs that these wait for, directly and in turn, as far as it is known. New jobs are not in the rows yet.
fn walk<'r>(rows: &'r JobRows, new: &'r [NewJob], waits: &'r [Wait]) -> BTreeSet<&'r JobId> {
    let mut found = BTreeSet::new();
    let mut next: VecDeque<_> = waits.iter().filter_map(|wait| wait.on.job()).collect();
    while let Some(id) = next.pop_front().filter(|_| found.len() < RING_WALK) {
        if found.insert(id) {
            next.extend(rows.waits.get(id).into_iter().flatten().filter_map(Dependency::job));
            let new = new.iter().filter(|new| new.id == *id).flat_map(|new| &new.after);
            next.extend(new.filter_map(|wait| wait.on.job()));
        }
    }
    found
}

impl Transition<'_, '_> {
    /// Looks at what a job is to wait for.
    pub(super) fn look_at(&self, id: &JobId, waits: &[Wait]) -> Result<Waits, JobProblem> {
        let (mut looked_at, mut seen) = (Waits::default(), BTreeSet::new());
        for wait in waits.iter().filter(|wait| seen.insert(&wait.on)) {
            match self.end_of(&wait.on) {
                Found::Nothing => return Err(JobProblem::UnknownDependency(wait.on.clone())),
                Found::Open => looked_at.open.push(wait.clone()),
                Found::Ended(Some(word)) if wait.policy != Policy::Release => {
                    looked_at.broken.get_or_insert((wait.clone(), word));
                }
                Found::Ended(_) => {}
            }
        }
        let in_ring = |wait: &&Wait| walk(self.rows, &[], std::slice::from_ref(*wait)).contains(id);
        match looked_at.open.iter().find(in_ring) {
            Some(wait) => Err(JobProblem::Ring(wait.on.clone())),
            None => Ok(looked_at),
        }
    }

    /// Whether the jobs that a settle submits can be, and what the job hands itself over to can wait for them.
    pub(super) fn check_forks(&self, settle: &JobSettle) -> Result<(), JobProblem> {
        let (id, submits) = (&settle.hold.job, &settle.submits);
        for (at, new) in submits.iter().enumerate() {
            // One that is there is left as it is, whatever it would wait for.
            let before = &submits[..at];
            let is_there = |new: &NewJob| self.rows.row(&new.id).is_some();
            if !is_there(new) && before.iter().all(|before| before.id != new.id) {
                self.check_known(before, &new.after)?;
            }
        }
        let JobVerdict::HandedOver(to) = &settle.verdict else { return Ok(()) };
        self.check_known(submits, &to.after)?;
        let in_ring =
            |wait: &&Wait| walk(self.rows, submits, std::slice::from_ref(*wait)).contains(id);
        let ring = to.after.iter().find(in_ring);
        ring.map_or(Ok(()), |wait| Err(JobProblem::Ring(wait.on.clone())))
    }

    /// Whether all that a job is to wait for is there, or among these new ones.
    fn check_known(&self, new: &[NewJob], waits: &[Wait]) -> Result<(), JobProblem> {
        for wait in waits {
            let is_new = new.iter().any(|new| wait.on.job() == Some(&new.id));
            if !is_new && matches!(self.end_of(&wait.on), Found::Nothing) {
                return Err(JobProblem::UnknownDependency(wait.on.clone()));
            }
        }
        Ok(())
    }

    fn end_of(&self, dependency: &Dependency) -> Found {
        match dependency {
            Dependency::Job(job) if self.rows.jobs.contains_key(job) => Found::Open,
            Dependency::Job(job) => self.rows.archived.get(job).map_or(Found::Nothing, |ended| {
                Found::Ended((ended.outcome != JobOutcome::Done).then(|| ended.outcome.word()))
            }),
            Dependency::Run(run) => match self.rows.runs.get(run) {
                None => Found::Nothing,
                Some(RunStatus::Started) => Found::Open,
                Some(RunStatus::Completed) => Found::Ended(None),
                Some(status) => Found::Ended(Some(status.word())),
            },
        }
    }

    /// A live job waits for these from now on, and for nothing else; it ends if one of them takes it along.
    pub(super) fn wait(&mut self, id: &JobId, waits: Waits) {
        let open = u32::try_from(waits.open.len()).unwrap_or(u32::MAX);
        let Some(row) = self.change(id) else { return };
        row.waits = open;
        let on: Vec<_> = waits.open.iter().map(|wait| wait.on.clone()).collect();
        self.rows.waits.insert(id.clone(), on);
        for wait in waits.open {
            let waiters = self.rows.waiters.entry(wait.on.clone()).or_default();
            waiters.push((id.clone(), wait.policy));
            self.writes.edges.push(Edge { waiter: id.clone(), wait });
        }
        self.arrive(id);
        if let Some((wait, word)) = waits.broken {
            self.take_along(id, &wait.on, wait.policy, word);
        }
    }

    /// Tells all who wait for what has ended.
    pub(super) fn pass_on(&mut self) -> Result<(), Refusal> {
        while let Some((dependency, word)) = self.over.pop_front() {
            let is_new =
                matches!(&dependency, Dependency::Job(id) if self.writes.inserted.contains(id));
            if !is_new {
                self.rows.check_waiters(&dependency)?;
            }
            let waiters = self.rows.waiters.remove(&dependency).unwrap_or_default();
            for (waiter, policy) in &waiters {
                match word.filter(|_| *policy != Policy::Release) {
                    Some(word) => self.take_along(waiter, &dependency, *policy, word),
                    None => self.unblock(waiter),
                }
            }
            if !waiters.is_empty() {
                self.writes.over.insert(dependency);
            }
        }
        Ok(())
    }

    fn unblock(&mut self, waiter: &JobId) {
        // Who has ended in the meantime waits no more.
        let Some(row) = self.change(waiter).filter(|row| row.state == JobState::Waiting) else {
            return;
        };
        row.waits = row.waits.saturating_sub(1);
        if row.waits == 0 {
            self.trace(waiter, TraceKind::Unblocked, None);
            self.arrive(waiter);
        }
    }

    /// Ends a waiter because what it waits for did not end well.
    fn take_along(&mut self, id: &JobId, on: &Dependency, policy: Policy, word: &'static str) {
        let (now, name) = (self.now, on.name());
        let Some(row) = self.change(id) else { return };
        let mut outcome = JobOutcome::Failed;
        if policy == Policy::Cancel {
            row.cancel = Some(Asked { by: format!("dependency {name}"), at: now, reason: None });
            outcome = JobOutcome::Cancelled;
        }
        let error = format!("dependency {name} ended {word}");
        let detail = Some(json!({ "because": error }));
        self.writes.errors.insert(id.clone(), error);
        self.end(id, End { outcome, output: None, detail });
    }
}
