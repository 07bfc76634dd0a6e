//! Who waits for whom.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use serde_json::json;

use super::transition::{End, Transition};
use super::{
    Asked, Dependency, Edge, JobId, JobNeeds, JobOutcome, JobProblem, JobRows, JobSettle, JobState,
    JobVerdict, NewJob, Policy, Seq, TraceKind, Wait,
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

/// New jobs of one call, which are not in the rows yet: the first of each name counts.
type New<'n> = HashMap<&'n JobId, (usize, &'n NewJob)>;

fn first_of_each_name(new: &[NewJob]) -> New<'_> {
    let mut first = New::with_capacity(new.len());
    for (at, new) in new.iter().enumerate() {
        first.entry(&new.id).or_insert((at, new));
    }
    first
}

/// A search for a job among what others wait for, directly and in turn, as far as it is known. What was looked at for one is not looked
/// at again for the next.
struct Search<'r> {
    rows: &'r JobRows,
    new: &'r New<'r>,
    seen: HashSet<&'r JobId>,
}

impl<'r> Search<'r> {
    fn new(rows: &'r JobRows, new: &'r New<'r>) -> Self {
        Self { rows, new, seen: HashSet::new() }
    }

    /// The first of these that leads to the job.
    fn first_to<'w: 'r>(&mut self, id: &JobId, waits: &'w [Wait]) -> Option<&'w Wait> {
        waits.iter().find(|wait| wait.on.job().is_some_and(|from| self.leads_to(id, from)))
    }

    fn leads_to(&mut self, id: &JobId, from: &'r JobId) -> bool {
        let mut next = VecDeque::from([from]);
        let mut looked_at = 0;
        while let Some(job) = next.pop_front().filter(|_| looked_at < RING_WALK) {
            if job == id {
                return true;
            }
            if self.seen.insert(job) {
                looked_at += 1;
                let waits = self.rows.waits.get(job).into_iter().flatten();
                next.extend(waits.filter_map(Dependency::job));
                let new = self.new.get(job).into_iter().flat_map(|(_, new)| &new.after);
                next.extend(new.filter_map(|wait| wait.on.job()));
            }
        }
        false
    }
}

impl Transition<'_, '_> {
    /// Looks at what a job is to wait for.
    pub(super) fn look_at(&self, waits: &[Wait]) -> Result<Waits, JobProblem> {
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
        Ok(looked_at)
    }

    /// The same for a job that others may wait for already. For a new one nobody can.
    pub(super) fn look_around(&self, id: &JobId, waits: &[Wait]) -> Result<Waits, JobProblem> {
        let looked_at = self.look_at(waits)?;
        self.check_ring(id, &New::new(), &looked_at.open)?;
        Ok(looked_at)
    }

    fn check_ring(&self, id: &JobId, new: &New, waits: &[Wait]) -> Result<(), JobProblem> {
        let ring = Search::new(self.rows, new).first_to(id, waits);
        ring.map_or(Ok(()), |wait| Err(JobProblem::Ring(wait.on.clone())))
    }

    /// Whether the jobs that a settle submits can be, and what the job hands itself over to can wait for them.
    pub(super) fn check_forks(&self, settle: &JobSettle) -> Result<(), JobProblem> {
        let new = first_of_each_name(&settle.submits);
        for (at, fork) in settle.submits.iter().enumerate() {
            // One that is there is left as it is, whatever it would wait for.
            if new[&fork.id].0 == at && self.rows.row(&fork.id).is_none() {
                self.check_known(&new, at, &fork.after)?;
            }
        }
        let JobVerdict::HandedOver(to) = &settle.verdict else { return Ok(()) };
        self.check_known(&new, settle.submits.len(), &to.after)?;
        self.check_ring(&settle.hold.job, &new, &to.after)
    }

    /// Whether all that a job is to wait for is there, or among the first so many of these new ones.
    fn check_known(&self, new: &New, before: usize, waits: &[Wait]) -> Result<(), JobProblem> {
        for wait in waits {
            let first = wait.on.job().and_then(|job| new.get(job));
            let is_new = first.is_some_and(|(at, _)| *at < before);
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
            if !self.is_new(&dependency) {
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

    /// Whether it was submitted by this transition, and has ended since: nobody can have waited for it before.
    fn is_new(&self, dependency: &Dependency) -> bool {
        let row = dependency.job().and_then(|id| self.rows.row(id));
        row.is_some_and(|row| matches!(row.seq, Seq::New(_)))
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
