//! The contract about jobs, kept by every store.

use std::collections::BTreeSet;
use std::time::Duration;

use pgflow_machine::job::{
    ArchiveWrite, BeatJobs, CancelJobs, ClearConcern, ConcernCleared, Dependency, ExpireJobs,
    HoldsJob, JobBeat, JobCancelled, JobClaim, JobHold, JobId, JobNeeds, JobOutcome, JobProblem,
    JobRow, JobRows, JobSettings, JobSettle, JobSettled, JobState, JobVerdict, JobWrites,
    JudgeStreaks, LapseJobs, NewJob, Operate, Operated, RING_EDGES, Redrive, Redriven, RunsEnded,
    SettleJobs, Submit, Submitted, Unheld, check_name,
};
use pgflow_machine::permit::{PermitKey, PermitKind, Stage};
use pgflow_machine::wait::ChildEnd;
use pgflow_machine::{Command, Limits, RunId, RunStatus, job};

use super::execute::again;
use super::job_claim::{self, BATCH};
use super::pipelines::read;
use super::upkeep::ago;
use super::{Access, JobSession, Session, Store, Stored, trip, waits};
use crate::backend::{
    ClaimedJobs, JobEvent, JobQuery, JobRecord, JobSearch, JobStanding, JobSummary, Jobs,
    JobsSwept, Reply, Settlement, Trip, Wake,
};
use crate::tx::StepTx;

/// A boxed future of a transition, which is done again as a whole where that helps.
macro_rules! transition {
    ($store:expr, $transition:expr) => {
        Box::pin(async move { again!($store, $transition) })
    };
}

impl<S: Store> Jobs for S {
    fn submit_jobs<'a>(
        &'a self,
        jobs: &'a [NewJob],
        by: &'a str,
    ) -> Reply<'a, Vec<Result<Submitted, JobProblem>>> {
        transition!(self, transact_as(self, by, &Submit { jobs, by, limits: Store::limits(self) }))
    }

    fn claim_jobs<'a>(&'a self, claim: &'a JobClaim) -> Reply<'a, ClaimedJobs> {
        transition!(self, job_claim::claim(self, claim))
    }

    fn beat_jobs<'a>(&'a self, holds: &'a [JobHold], lease: Duration) -> Reply<'a, Vec<JobBeat>> {
        Box::pin(async move {
            let beat = BeatJobs { holds, lease };
            beat.check()?;
            again!(self, transact(self, &beat))
        })
    }

    fn settle_jobs<'a>(
        &'a self,
        settles: &'a [JobSettle],
        by: &'a str,
    ) -> Reply<'a, Vec<JobSettled>> {
        transition!(
            self,
            transact_as(self, by, &SettleJobs { settles, by, limits: Store::limits(self) })
        )
    }

    fn settle_and_claim<'a>(&'a self, trip: &'a Trip<'a>) -> Reply<'a, Settlement> {
        transition!(self, trip::settle_and_claim(self, trip))
    }

    fn begin_job<'a>(&'a self, hold: &'a JobHold) -> Reply<'a, Option<StepTx>> {
        transition!(self, begin(self, hold))
    }

    fn commit_job<'a>(
        &'a self,
        tx: StepTx,
        settle: &'a JobSettle,
        by: &'a str,
    ) -> Reply<'a, JobSettled> {
        Box::pin(commit(self, tx, settle, by))
    }

    fn cancel_jobs<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
        reason: Option<&'a str>,
    ) -> Reply<'a, Vec<JobCancelled>> {
        transition!(self, transact_as(self, by, &CancelJobs { jobs, by, reason }))
    }

    fn clear_concern<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
    ) -> Reply<'a, Vec<ConcernCleared>> {
        transition!(self, transact_as(self, by, &ClearConcern { jobs, by }))
    }

    fn operate<'a>(&'a self, job: &'a JobId, by: &'a str, act: &'a Unheld) -> Reply<'a, Operated> {
        transition!(
            self,
            transact_as(self, by, &Operate { job, by, act, limits: Store::limits(self) })
        )
    }

    fn redrive_jobs<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
        spacing: Duration,
    ) -> Reply<'a, Vec<Redriven>> {
        Box::pin(async move {
            let redrive = Redrive { jobs, by, spacing };
            redrive.check()?;
            again!(self, transact_as(self, by, &redrive))
        })
    }

    fn job<'a>(&'a self, id: &'a JobId) -> Reply<'a, Option<JobRecord>> {
        Box::pin(async move { self.begin(Access::Read).await?.job_record(id).await })
    }

    fn job_standings<'a>(&'a self, ids: &'a [JobId]) -> Reply<'a, Vec<(JobId, JobStanding)>> {
        Box::pin(standings(self, ids))
    }

    fn list_jobs<'a>(&'a self, query: &'a JobQuery) -> Reply<'a, Vec<JobSummary>> {
        Box::pin(async move { self.begin(Access::Read).await?.list_jobs(query).await })
    }

    fn job_trace<'a>(&'a self, id: &'a JobId, after: u64, max: u32) -> Reply<'a, Vec<JobEvent>> {
        Box::pin(async move { self.begin(Access::Read).await?.job_trace(id, after, max).await })
    }

    fn job_trace_end<'a>(&'a self, id: &'a JobId, max: u32) -> Reply<'a, Vec<JobEvent>> {
        Box::pin(async move { self.begin(Access::Read).await?.job_trace_end(id, max).await })
    }

    fn release_unknown_jobs<'a>(&'a self, worker: &'a str, known: &'a [JobHold]) -> Reply<'a, u64> {
        transition!(self, release_unknown(self, worker, known))
    }

    fn sweep_jobs(&self) -> Reply<'_, JobsSwept> {
        Box::pin(async move {
            let mut swept = JobsSwept::default();
            loop {
                let (more, is_whole) = again!(self, sweep_batch(self))?;
                swept.lapses += more.lapses;
                swept.expired += more.expired;
                if is_whole {
                    let mut reading = self.begin(Access::Read).await?;
                    swept.rings = job::rings(reading.waiting_pairs(RING_EDGES).await?);
                    swept.in_concern = in_concern(&mut reading).await?;
                    return Ok(swept);
                }
            }
        })
    }

    fn prune_jobs(&self, older_than: Duration, max: u32) -> Reply<'_, u64> {
        transition!(self, prune(self, older_than, max))
    }

    fn job_settings(&self) -> Reply<'_, JobSettings> {
        Box::pin(async move { self.begin(Access::Read).await?.job_settings().await })
    }

    fn set_job_settings(&self, settings: JobSettings) -> Reply<'_, ()> {
        Box::pin(async move {
            settings.check()?;
            again!(self, set_settings(self, settings))
        })
    }
}

/// What is to be told after the commit.
#[derive(Debug, Default)]
pub struct Ready {
    /// Needs of jobs that may be had since.
    pub needs: BTreeSet<String>,
    /// Resources and rates of which there may be more since.
    pub permits: BTreeSet<String>,
    /// Waits can go on.
    pub waits: bool,
}

impl Ready {
    /// That, too.
    pub fn extend(&mut self, more: Self) {
        self.needs.extend(more.needs);
        self.permits.extend(more.permits);
        self.waits |= more.waits;
    }
}

/// Who submits and cancels the jobs that a run waits for.
pub(super) fn by_run(run: RunId) -> String {
    format!("run {run}")
}

/// How a job ended, for those who wait for it.
pub(super) fn child_end(outcome: JobOutcome, row: &JobRow, error: Option<String>) -> ChildEnd {
    let message = match outcome {
        JobOutcome::Cancelled => row.cancel.as_ref().and_then(|asked| asked.reason.clone()),
        JobOutcome::Failed => error,
        JobOutcome::Done | JobOutcome::Expired | JobOutcome::Crashed => None,
    };
    ChildEnd { status: outcome.into(), message }
}

fn child_ends(rows: &JobRows, writes: &JobWrites<'_>) -> Vec<(Dependency, ChildEnd)> {
    let end = |write: &ArchiveWrite<'_>| {
        let error = writes.errors.get(&write.id).cloned();
        let end = child_end(write.outcome, rows.row(&write.id)?, error);
        Some((Dependency::Job(write.id.clone()), end))
    };
    writes.archived.iter().filter_map(end).collect()
}

/// Executes a command in a transaction that is open: loads until nothing more is needed, decides, writes.
pub(super) async fn execute<S: Session, C: Command<job::Jobs>>(
    session: &mut S,
    command: &C,
) -> Stored<(C::Answer, Ready)> {
    let mut rows = load(session, command).await?;
    let (answer, writes) = command.decide(&mut rows, session.now())?;
    Ok((answer, write(session, &rows, writes).await?))
}

async fn load<S: Session, C: Command<job::Jobs>>(session: &mut S, command: &C) -> Stored<JobRows> {
    let mut rows = JobRows::new(session.job_settings().await?);
    let mut needs = rows.missing(command.needs());
    while !needs.is_empty() {
        session.load_jobs(&needs, &mut rows).await?;
        needs = rows.missing(command.more(&rows));
    }
    rows.queues = queues(session, rows.needs_in_danger()).await?;
    Ok(rows)
}

/// Those of these needs that are queues of pipelines: nearly always, nobody asks about any.
async fn queues<S: Session>(session: &mut S, needs: BTreeSet<String>) -> Stored<BTreeSet<String>> {
    if needs.is_empty() {
        return Ok(needs);
    }
    let keys = needs.into_iter().map(|need| PermitKey::new(PermitKind::Stage, need)).collect();
    let mut queues = BTreeSet::new();
    for (key, stage) in session.known_permits(&keys).await? {
        let stage: Stage = read(stage)?;
        queues.extend(stage.of_queue.then_some(key.name));
    }
    Ok(queues)
}

async fn write<S: Session>(
    session: &mut S,
    rows: &JobRows,
    writes: JobWrites<'_>,
) -> Stored<Ready> {
    let mut ready = ready(rows, &writes);
    if !writes.is_empty() {
        let ends = child_ends(rows, &writes);
        session.write_jobs(rows, writes).await?;
        // Tasks may wait for jobs: they are told in the same transaction, and go on in one of their own.
        ready.waits = !ends.is_empty() && session.note_ends(&ends).await? > 0;
    }
    Ok(ready)
}

/// Submits all of these jobs, or none if there is something wrong with one.
pub(super) async fn submit_all<S: Session>(
    session: &mut S,
    jobs: &[NewJob],
    by: &str,
    limits: Limits,
) -> Stored<Result<(Vec<Submitted>, Ready), JobProblem>> {
    let submit = Submit { jobs, by, limits };
    let mut rows = load(session, &submit).await?;
    let (answers, writes) = submit.decide(&mut rows, session.now())?;
    let submitted = match answers.into_iter().collect::<Result<Vec<_>, _>>() {
        Ok(submitted) => submitted,
        Err(problem) => return Ok(Err(problem)),
    };
    let ready = write(session, &rows, writes).await?;
    Ok(Ok((submitted, ready)))
}

/// Cancels a job that a task waited for, unless another one waits, or a job does. Says whether it went on until now.
pub(super) async fn cancel_orphan<S: Session>(
    session: &mut S,
    job: &JobId,
    by: &str,
    reason: &str,
) -> Stored<(bool, Ready)> {
    let cancel = CancelJobs { jobs: std::slice::from_ref(job), by, reason: Some(reason) };
    let mut rows = load(session, &cancel).await?;
    // Nobody begins to wait for it now: its row is locked.
    let child = Dependency::Job(job.clone());
    if rows.has_waiters(&child) || session.is_awaited(&child).await? {
        return Ok((false, Ready::default()));
    }
    let (answers, writes) = cancel.decide(&mut rows, session.now())?;
    let is_new = matches!(answers[..], [JobCancelled::Cancelled | JobCancelled::Asked]);
    Ok((is_new, write(session, &rows, writes).await?))
}

fn ready(rows: &JobRows, writes: &JobWrites<'_>) -> Ready {
    let changed = writes.inserted.iter().chain(&writes.updated).chain(&writes.restored);
    let is_ready = |row: &&JobRow| row.state == JobState::Ready;
    let ready = changed.filter_map(|id| rows.jobs.get(id).filter(is_ready));
    Ready { needs: ready.map(|row| row.need.clone()).collect(), ..Ready::default() }
}

/// Tells workers that wait, and lets tasks go on that waited for jobs.
pub(super) async fn tell<S: Store>(store: &S, ready: Ready) {
    let waits = ready.waits;
    hint(store, ready);
    if waits {
        waits::advance(store).await;
    }
}

/// Tells workers that wait.
pub(super) fn hint<S: Store>(store: &S, ready: Ready) {
    for need in ready.needs {
        store.wake(Wake::need(need));
    }
    for slug in ready.permits {
        store.wake(Wake::permit(slug));
    }
}

/// Executes a command in a transaction of its own.
async fn transact<S: Store, C: Command<job::Jobs>>(store: &S, command: &C) -> Stored<C::Answer> {
    let mut session = store.begin(Access::Write).await?;
    let (answer, ready) = execute(&mut session, command).await?;
    store.commit(session).await?;
    tell(store, ready).await;
    Ok(answer)
}

/// The same for a caller, whose name is kept.
async fn transact_as<S: Store, C: Command<job::Jobs>>(
    store: &S,
    by: &str,
    command: &C,
) -> Stored<C::Answer> {
    check_name(by).map_err(|why| JobProblem::Name { what: "caller", why })?;
    transact(store, command).await
}

/// Submits a job in a transaction that may write.
pub async fn submit_in<S: Session>(
    session: &mut S,
    job: &NewJob,
    by: &str,
    limits: Limits,
) -> Stored<Result<Submitted, JobProblem>> {
    check_name(by).map_err(|why| JobProblem::Name { what: "caller", why })?;
    let jobs = std::slice::from_ref(job);
    let (answers, _) = execute(session, &Submit { jobs, by, limits }).await?;
    Ok(answers.into_iter().next().unwrap_or(Ok(Submitted::Exists)))
}

/// Opens the transaction of a need, if the lease still holds.
async fn begin<S: Store>(store: &S, hold: &JobHold) -> Stored<Option<StepTx>> {
    if !Store::abilities(store).transactions {
        return Err(S::no_transactions());
    }
    let mut session = store.begin(Access::Step).await?;
    if !execute(&mut session, &HoldsJob { hold }).await?.0 {
        return Ok(None);
    }
    store.lend(session).await.map(Some)
}

/// Records the end of an attempt, and commits only if it took effect.
async fn commit<S: Store>(
    store: &S,
    tx: StepTx,
    settle: &JobSettle,
    by: &str,
) -> Stored<JobSettled> {
    let mut session = store.take_back(tx).await?;
    let (settles, limits) = (std::slice::from_ref(settle), Store::limits(store));
    let settled = execute(&mut session, &SettleJobs { settles, by, limits }).await?;
    let (outcomes, ready) = settled;
    let outcome = outcomes.into_iter().next().unwrap_or(JobSettled::Unknown);
    if outcome == JobSettled::Applied {
        store.commit_step(session).await?;
        tell(store, ready).await;
    } else {
        store.undo(session).await?;
    }
    Ok(outcome)
}

/// Tells jobs that wait for runs which have just ended. Nearly always there are none.
pub(super) async fn runs_ended<S: Session>(
    session: &mut S,
    runs: &[(RunId, RunStatus)],
) -> Stored<Ready> {
    if runs.is_empty() {
        return Ok(Ready::default());
    }
    let waiters = runs.iter().map(|(run, _)| Dependency::Run(*run)).collect();
    let mut rows = JobRows::default();
    session.load_jobs(&JobNeeds { waiters, ..JobNeeds::default() }, &mut rows).await?;
    if rows.waiters.values().all(Vec::is_empty) {
        return Ok(Ready::default());
    }
    Ok(execute(session, &RunsEnded { runs }).await?.1)
}

/// Sweeps up to a batch of each; says whether that was all there is to do.
async fn sweep_batch<S: Store>(store: &S) -> Stored<(JobsSwept, bool)> {
    // Nearly always there is nothing to do; then nobody is kept from writing.
    let mut reading = store.begin(Access::Read).await?;
    let lapsed = reading.lapsed_jobs(None, BATCH).await?;
    let expired = reading.expired_jobs(BATCH).await?;
    drop(reading);
    if lapsed.is_empty() && expired.is_empty() {
        return Ok((JobsSwept::default(), true));
    }
    let mut session = store.begin(Access::Write).await?;
    let (counted, back) = execute(&mut session, &LapseJobs { jobs: &lapsed }).await?;
    let (ended, freed) = execute(&mut session, &ExpireJobs { jobs: &expired }).await?;
    store.commit(session).await?;
    let mut ready = back;
    ready.extend(freed);
    tell(store, ready).await;
    // A job that was taken back may have expired meanwhile: look again, unless others were faster with all of them.
    let is_stuck = counted.lapsed == 0 && ended == 0;
    Ok((JobsSwept { lapses: counted, expired: ended, ..JobsSwept::default() }, is_stuck))
}

/// In one transaction with what a new threshold means for jobs that are there.
async fn set_settings<S: Store>(store: &S, settings: JobSettings) -> Stored<()> {
    let mut session = store.begin(Access::Write).await?;
    session.set_job_settings(settings).await?;
    let mut ready = Ready::default();
    loop {
        let jobs = session.misjudged_jobs(settings.crash_threshold, BATCH).await?;
        let (judged, more) = execute(&mut session, &JudgeStreaks { jobs: &jobs }).await?;
        ready.extend(more);
        if judged < u64::from(BATCH) {
            break;
        }
    }
    store.commit(session).await?;
    tell(store, ready).await;
    Ok(())
}

/// Jobs that people have to look at.
async fn in_concern<S: Session>(session: &mut S) -> Stored<Vec<JobId>> {
    let search = JobSearch { state: Some(JobState::Concern), max: 100, ..JobSearch::default() };
    Ok(session.find_jobs(&search).await?.into_iter().map(|job| job.id).collect())
}

/// Gives back what a worker has and does not know of.
async fn release_unknown<S: Store>(store: &S, worker: &str, known: &[JobHold]) -> Stored<u64> {
    let mut reading = store.begin(Access::Read).await?;
    let held = reading.held_jobs(worker).await?;
    drop(reading);
    let unknown = held.into_iter().filter(|hold| !known.contains(hold));
    let settles: Vec<_> = unknown.map(|hold| JobSettle::new(hold, JobVerdict::Released)).collect();
    if settles.is_empty() {
        return Ok(0);
    }
    let (by, limits) = (worker, Store::limits(store));
    let settled = transact_as(store, by, &SettleJobs { settles: &settles, by, limits }).await?;
    Ok(settled.iter().filter(|settled| **settled == JobSettled::Applied).count() as u64)
}

/// From their rows alone, whatever they carry.
async fn standings<S: Store>(store: &S, ids: &[JobId]) -> Stored<Vec<(JobId, JobStanding)>> {
    let mut session = store.begin(Access::Read).await?;
    let mut rows = JobRows::default();
    session.load_jobs(&JobNeeds::of_jobs(ids), &mut rows).await?;
    let now = session.now();
    let live = rows.jobs.iter().map(|(id, row)| (id, JobStanding::Live(row.status(now))));
    let ended = rows.archived.iter().map(|(id, job)| (id, JobStanding::Ended(job.outcome)));
    Ok(live.chain(ended).map(|(id, standing)| (id.clone(), standing)).collect())
}

async fn prune<S: Store>(store: &S, older_than: Duration, max: u32) -> Stored<u64> {
    let mut session = store.begin(Access::Write).await?;
    let pruned = session.prune_jobs(ago(session.now(), older_than), max).await?;
    store.commit(session).await?;
    Ok(pruned)
}
