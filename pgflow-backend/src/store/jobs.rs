//! The contract about jobs, kept by every store.

use std::time::Duration;

use pgflow_machine::job::{
    BeatJobs, CancelJobs, ClearConcern, ConcernCleared, Dependency, ExpireJobs, HoldsJob, JobBeat,
    JobCancelled, JobClaim, JobHold, JobId, JobNeeds, JobProblem, JobRows, JobSettings, JobSettle,
    JobSettled, JobToken, LapseJobs, NewJob, Operate, Operated, Redrive, Redriven, RunsEnded,
    SettleJobs, Submit, Submitted, TakeJobs, TakenJob, Unheld, WakeJobs, check_name,
};
use pgflow_machine::{Command, RunId, RunStatus, job};

use super::execute::again;
use super::recovery::ago;
use super::{Access, JobSession, Session, Store, Stored};
use crate::backend::{
    ClaimedJob, ClaimedJobs, JobEvent, JobQuery, JobRecord, JobSummary, Jobs, JobsSwept, Reply,
};
use crate::tx::StepTx;

/// Jobs that one transaction of a claim or sweep looks at because time has passed.
const BATCH: u32 = 500;

/// So often a claim looks again because keys were held by others.
const LOOKS: u32 = 8;

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
        transition!(self, claim_jobs(self, claim))
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
        transition!(self, transact_as(self, by, &Redrive { jobs, by, spacing }))
    }

    fn job<'a>(&'a self, id: &'a JobId) -> Reply<'a, Option<JobRecord>> {
        Box::pin(async move { self.begin(Access::Read).await?.job_record(id).await })
    }

    fn list_jobs<'a>(&'a self, query: &'a JobQuery) -> Reply<'a, Vec<JobSummary>> {
        Box::pin(async move { self.begin(Access::Read).await?.list_jobs(query).await })
    }

    fn job_trace<'a>(&'a self, id: &'a JobId, after: u64, max: u32) -> Reply<'a, Vec<JobEvent>> {
        Box::pin(async move { self.begin(Access::Read).await?.job_trace(id, after, max).await })
    }

    fn sweep_jobs(&self) -> Reply<'_, JobsSwept> {
        Box::pin(async move {
            let mut swept = JobsSwept::default();
            loop {
                let (more, is_whole) = again!(self, sweep_batch(self))?;
                swept.lapses += more.lapses;
                swept.expired += more.expired;
                if is_whole {
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
        transition!(self, async {
            settings.check()?;
            let mut session = self.begin(Access::Write).await?;
            session.set_job_settings(settings).await?;
            self.commit(session).await
        })
    }
}

/// Executes a command in a transaction that is open: loads until nothing more is needed, decides, writes.
async fn execute<S: Session, C: Command<job::Jobs>>(
    session: &mut S,
    command: &C,
) -> Stored<C::Answer> {
    let mut rows = JobRows::new(session.job_settings().await?);
    let mut needs = rows.missing(command.needs());
    while !needs.is_empty() {
        session.load_jobs(&needs, &mut rows).await?;
        needs = rows.missing(command.more(&rows));
    }
    let (answer, writes) = command.decide(&mut rows, session.now())?;
    if !writes.is_empty() {
        session.write_jobs(&rows, writes).await?;
    }
    Ok(answer)
}

/// Executes a command in a transaction of its own.
async fn transact<S: Store, C: Command<job::Jobs>>(store: &S, command: &C) -> Stored<C::Answer> {
    let mut session = store.begin(Access::Write).await?;
    let answer = execute(&mut session, command).await?;
    store.commit(session).await?;
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

/// Opens the transaction of a need, if the lease still holds.
async fn begin<S: Store>(store: &S, hold: &JobHold) -> Stored<Option<StepTx>> {
    if !Store::abilities(store).transactions {
        return Err(S::no_transactions());
    }
    let mut session = store.begin(Access::Step).await?;
    if !execute(&mut session, &HoldsJob { hold }).await? {
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
    let outcomes = execute(&mut session, &SettleJobs { settles, by, limits }).await?;
    let outcome = outcomes.into_iter().next().unwrap_or(JobSettled::Unknown);
    if outcome == JobSettled::Applied {
        store.commit_step(session).await?;
    } else {
        store.undo(session).await?;
    }
    Ok(outcome)
}

/// Tells jobs that wait for runs which have just ended. Nearly always there are none.
pub(super) async fn runs_ended<S: Session>(
    session: &mut S,
    runs: &[(RunId, RunStatus)],
) -> Stored<()> {
    if runs.is_empty() {
        return Ok(());
    }
    let waiters = runs.iter().map(|(run, _)| Dependency::Run(*run)).collect();
    let mut rows = JobRows::default();
    session.load_jobs(&JobNeeds { waiters, ..JobNeeds::default() }, &mut rows).await?;
    if rows.waiters.values().all(Vec::is_empty) {
        return Ok(());
    }
    execute(session, &RunsEnded { runs }).await
}

/// Claims. It does not ask for a transaction that writes when there is nothing to take.
async fn claim_jobs<S: Store>(store: &S, claim: &JobClaim) -> Stored<ClaimedJobs> {
    claim.check()?;
    let mut reading = store.begin(Access::Read).await?;
    let next = reading.next_job(&claim.needs).await?;
    let now = reading.now();
    drop(reading);
    if next.is_none_or(|next| next > now) {
        let next_in = next.map(|next| now.saturating_until(next));
        return Ok(ClaimedJobs { jobs: Vec::new(), next_in });
    }
    let mut session = store.begin(Access::Write).await?;
    let lapsed = session.lapsed_jobs(Some(&claim.needs), BATCH).await?;
    if !lapsed.is_empty() {
        execute(&mut session, &LapseJobs { jobs: &lapsed }).await?;
    }
    let due = session.due_jobs(&claim.needs, BATCH).await?;
    if !due.is_empty() {
        execute(&mut session, &WakeJobs { jobs: &due }).await?;
    }
    let taken = take(&mut session, claim).await?;
    let jobs = hand_out(&mut session, taken).await?;
    let is_full = jobs.len() >= claim.max as usize;
    let next = if is_full { None } else { session.next_job(&claim.needs).await? };
    let next_in = next.map(|next| session.now().saturating_until(next));
    store.commit(session).await?;
    Ok(ClaimedJobs { jobs, next_in })
}

/// Takes what can be had. A look may find jobs that cannot, which are out of the way then.
async fn take<S: Session>(session: &mut S, claim: &JobClaim) -> Stored<Vec<TakenJob>> {
    let mut taken = Vec::new();
    for _ in 0..LOOKS {
        let room = claim.max.saturating_sub(u32::try_from(taken.len()).unwrap_or(u32::MAX));
        if room == 0 {
            break;
        }
        let candidates = session.ready_jobs(&claim.needs, room).await?;
        if candidates.is_empty() {
            break;
        }
        let tokens: Vec<_> = candidates.iter().map(|_| JobToken::new()).collect();
        let (worker, lease) = (claim.worker.as_str(), claim.lease);
        let take = TakeJobs { candidates: &candidates, tokens: &tokens, worker, lease };
        taken.extend(execute(session, &take).await?);
    }
    Ok(taken)
}

/// Adds to jobs what they are about.
async fn hand_out<S: Session>(session: &mut S, taken: Vec<TakenJob>) -> Stored<Vec<ClaimedJob>> {
    if taken.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<_> = taken.iter().map(|taken| taken.hold.job.clone()).collect();
    let mut payloads = session.job_payloads(&ids).await?;
    let claimed = |taken: TakenJob| {
        let payload = payloads.remove(&taken.hold.job).unwrap_or_default();
        ClaimedJob { taken, payload }
    };
    Ok(taken.into_iter().map(claimed).collect())
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
    let counted = execute(&mut session, &LapseJobs { jobs: &lapsed }).await?;
    let ended = execute(&mut session, &ExpireJobs { jobs: &expired }).await?;
    store.commit(session).await?;
    // A job that was taken back may have expired meanwhile: look again, unless others were faster with all of them.
    let is_stuck = counted.lapsed == 0 && ended == 0;
    Ok((JobsSwept { lapses: counted, expired: ended }, is_stuck))
}

async fn prune<S: Store>(store: &S, older_than: Duration, max: u32) -> Stored<u64> {
    let mut session = store.begin(Access::Write).await?;
    let pruned = session.prune_jobs(ago(session.now(), older_than), max).await?;
    store.commit(session).await?;
    Ok(pruned)
}
