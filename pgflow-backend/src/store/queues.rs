//! What pipelines need of a database: queues are kept by stores, and by Postgres with functions of its own.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use pgflow_machine::job::{
    HoldsJob, JobHold, JobId, JobOutcome, JobProblem, JobSettle, JobSettled, JobToken, LapseJobs,
    NewJob, SettleJobs, Submit, Submitted, TakeJobs, WakeJobs,
};
use pgflow_machine::permit::MessageSettle;
use pgflow_machine::{Claim, Limits, TaskLease, Timestamp};

use super::execute::{self, News};
use super::job_claim::{BATCH, hand_out};
use super::job_upkeep::paused;
use super::jobs::{Ready, execute, tell};
use super::pipelines::settle_in;
use super::upkeep::ago;
use super::{Access, Cursors, JobSession, PipelineSession, Session, Store, Stored, claim};
use crate::backend::{
    BackendError, Claimed, ClaimedJob, JobPlace, JobSearch, Jobs, JobsOf, StageClaim,
};
use crate::tx::StepTx;

/// A database that keeps queues: with this, it is a [`Pipelines`](crate::backend::Pipelines). Every store is one.
pub trait Queues: Jobs {
    /// A transaction. One that is dropped is undone.
    type Session: QueueSession;

    /// What payloads it takes.
    fn limits(&self) -> impl Future<Output = Stored<Limits>> + Send;

    /// Opens a transaction for a worker, which must not wait for anybody else's calls.
    fn begin(&self, access: Access) -> impl Future<Output = Stored<Self::Session>> + Send;

    /// Opens a transaction that writes for a client, which may have to wait for others.
    fn begin_for_client(&self) -> impl Future<Output = Stored<Self::Session>> + Send {
        self.begin(Access::Write)
    }

    /// Commits a transaction.
    fn commit(&self, session: Self::Session) -> impl Future<Output = Stored<()>> + Send;

    /// How far claims have looked at queues.
    fn cursors(&self) -> &Cursors;

    /// Undoes a transaction, in whatever way is cheapest.
    fn undo(&self, session: Self::Session) -> impl Future<Output = Stored<()>> + Send;

    /// See [`Store::pause_before_retry`].
    fn pause_before_retry(&self, error: &BackendError, tries: u32) -> Option<Duration>;

    /// Nothing if there are tasks to take, or that is not known; otherwise when there may be some.
    fn no_tasks_yet(
        &self,
        claim: &Claim,
    ) -> impl Future<Output = Stored<Option<Option<Duration>>>> + Send;

    /// Tasks that were taken, before the transaction is committed.
    type Tasks: Send;

    /// Takes tasks: what they are settled with, and the tasks.
    fn take_tasks(
        &self,
        session: &mut Self::Session,
        claim: &Claim,
    ) -> impl Future<Output = Stored<(Vec<TaskLease>, Self::Tasks)>> + Send;

    /// Tasks that were taken, after the commit.
    fn hand_on_tasks(&self, tasks: Self::Tasks) -> impl Future<Output = Stored<Claimed>> + Send;

    /// Takes the first messages of a queue for a stage that needs nothing but slots, where one call can do that. Nothing if it takes a
    /// look.
    fn take_front(&self, _claim: &StageClaim) -> impl Future<Output = Stored<Front>> + Send {
        std::future::ready(Ok(Front::default()))
    }

    /// Counts leases of a queue that have lapsed and wakes sleepers that are due, in transactions of its own: permits are locked
    /// before jobs.
    fn catch_up(&self, need: &str) -> impl Future<Output = Stored<()>> + Send;

    /// Opens the transaction that an attempt with `tx` works in, if all of its leases hold.
    fn begin_attempt(
        &self,
        holds: &[JobHold],
    ) -> impl Future<Output = Stored<Option<StepTx>>> + Send;

    /// Settles an attempt in its transaction, and commits only if all of it took effect.
    fn commit_attempt(
        &self,
        tx: StepTx,
        settles: &[MessageSettle],
        by: &str,
    ) -> impl Future<Output = Stored<Vec<JobSettled>>> + Send;

    /// Tells those who wait, after the commit.
    fn tell(&self, ready: Ready) -> impl Future<Output = ()> + Send;
}

/// A transaction of a database that keeps queues.
pub trait QueueSession: PipelineSession {
    /// The database's time.
    fn now(&self) -> Timestamp;

    /// Whether nobody is to take anything of a queue. Not asked where a look leaves that out by itself.
    fn is_paused(&mut self, need: &str) -> impl Future<Output = Stored<bool>> + Send;

    /// Submits jobs: an answer for each, in their order.
    fn submit(
        &mut self,
        jobs: &[NewJob],
        by: &str,
        limits: Limits,
    ) -> impl Future<Output = Stored<(Vec<Result<Submitted, JobProblem>>, Ready)>> + Send;

    /// Settles attempts at jobs: an answer for each, in their order.
    fn settle(
        &mut self,
        settles: &[JobSettle],
        by: &str,
        limits: Limits,
    ) -> impl Future<Output = Stored<(Vec<JobSettled>, Ready)>> + Send;

    /// Up to so many jobs of a need that failed or crashed longer ago than this.
    fn long_dead(
        &mut self,
        need: &str,
        older_than: Duration,
        max: u32,
    ) -> impl Future<Output = Stored<Vec<JobId>>> + Send;

    /// Leases those of these jobs that can be had.
    fn take(
        &mut self,
        candidates: &[JobId],
        worker: &str,
        lease: Duration,
    ) -> impl Future<Output = Stored<Vec<ClaimedJob>>> + Send;
}

/// Messages that were taken without a look.
#[derive(Debug, Default)]
pub struct Front {
    /// Each with since when it could have been taken.
    pub messages: Vec<(ClaimedJob, Timestamp)>,
    /// Whether there are more than are handed out at once, by their bytes.
    pub is_cut: bool,
    /// The database's time.
    pub now: Timestamp,
}

/// Tasks that a store has taken, and what others are to be told of it.
#[derive(Debug)]
pub struct TakenTasks {
    claimed: Claimed,
    news: News,
}

impl<S: Store> Queues for S {
    type Session = S::Session;
    type Tasks = TakenTasks;

    fn limits(&self) -> impl Future<Output = Stored<Limits>> + Send {
        std::future::ready(Ok(Store::limits(self)))
    }

    fn begin(&self, access: Access) -> impl Future<Output = Stored<S::Session>> + Send {
        Store::begin(self, access)
    }

    fn commit(&self, session: S::Session) -> impl Future<Output = Stored<()>> + Send {
        Store::commit(self, session)
    }

    fn cursors(&self) -> &Cursors {
        Store::cursors(self)
    }

    fn undo(&self, session: S::Session) -> impl Future<Output = Stored<()>> + Send {
        Store::undo(self, session)
    }

    fn pause_before_retry(&self, error: &BackendError, tries: u32) -> Option<Duration> {
        Store::pause_before_retry(self, error, tries)
    }

    async fn no_tasks_yet(&self, claim: &Claim) -> Stored<Option<Option<Duration>>> {
        let mut session = Store::begin(self, Access::Read).await?;
        let lanes = claim.lanes(session.catalog());
        let (next, now) = (session.next_ready(&lanes, None).await?, Session::now(&session));
        let is_none = next.is_none_or(|next| next > now);
        Ok(is_none.then(|| next.map(|next| now.saturating_until(next))))
    }

    async fn take_tasks(
        &self,
        session: &mut S::Session,
        claim: &Claim,
    ) -> Stored<(Vec<TaskLease>, TakenTasks)> {
        let (claimed, news) = claim::claim_in(self, session, claim).await?;
        let leases = claimed.tasks.iter().map(|task| task.lease.clone()).collect();
        Ok((leases, TakenTasks { claimed, news }))
    }

    async fn hand_on_tasks(&self, tasks: TakenTasks) -> Stored<Claimed> {
        execute::tell(self, tasks.news).await;
        Ok(tasks.claimed)
    }

    async fn catch_up(&self, need: &str) -> Stored<()> {
        let needs = [need.to_owned()];
        let mut session = Store::begin(self, Access::Write).await?;
        let mut ready = Ready::default();
        let lapsed = session.lapsed_jobs(Some(&needs), BATCH).await?;
        if !lapsed.is_empty() {
            ready = execute(&mut session, &LapseJobs { jobs: &lapsed }).await?.1;
        }
        let due = session.due_jobs(&needs, BATCH).await?;
        if !due.is_empty() {
            execute(&mut session, &WakeJobs { jobs: &due }).await?;
        }
        Store::commit(self, session).await?;
        tell(self, ready).await;
        Ok(())
    }

    async fn begin_attempt(&self, holds: &[JobHold]) -> Stored<Option<StepTx>> {
        if !Store::abilities(self).transactions {
            return Err(S::no_transactions());
        }
        let mut session = Store::begin(self, Access::Step).await?;
        // Rows are locked in one order by all.
        let sorted: BTreeMap<_, _> = holds.iter().map(|hold| (&hold.job, hold)).collect();
        for hold in sorted.into_values() {
            if !execute(&mut session, &HoldsJob { hold }).await?.0 {
                return Ok(None);
            }
        }
        self.lend(session).await.map(Some)
    }

    async fn commit_attempt(
        &self,
        tx: StepTx,
        settles: &[MessageSettle],
        by: &str,
    ) -> Stored<Vec<JobSettled>> {
        let mut session = self.take_back(tx).await?;
        let (answers, ready) = settle_in(&mut session, settles, by, Store::limits(self)).await?;
        if answers.iter().all(|answer| *answer == JobSettled::Applied) {
            self.commit_step(session).await?;
            tell(self, ready).await;
        } else {
            Store::undo(self, session).await?;
        }
        Ok(answers)
    }

    fn tell(&self, ready: Ready) -> impl Future<Output = ()> + Send {
        tell(self, ready)
    }
}

impl<S: Session> QueueSession for S {
    fn now(&self) -> Timestamp {
        Session::now(self)
    }

    async fn is_paused(&mut self, need: &str) -> Stored<bool> {
        Ok(paused(self).await?.iter().any(|paused| paused == need))
    }

    async fn submit(
        &mut self,
        jobs: &[NewJob],
        by: &str,
        limits: Limits,
    ) -> Stored<(Vec<Result<Submitted, JobProblem>>, Ready)> {
        execute(self, &Submit { jobs, by, limits }).await
    }

    async fn settle(
        &mut self,
        settles: &[JobSettle],
        by: &str,
        limits: Limits,
    ) -> Stored<(Vec<JobSettled>, Ready)> {
        execute(self, &SettleJobs { settles, by, limits }).await
    }

    async fn long_dead(
        &mut self,
        need: &str,
        older_than: Duration,
        max: u32,
    ) -> Stored<Vec<JobId>> {
        let before = ago(Session::now(self), older_than);
        let mut dead = Vec::new();
        for outcome in JobOutcome::DEAD {
            let (of, need) = (JobsOf::EndedAs(outcome), Some(need.to_owned()));
            // Lists begin with what ended last.
            let after = Some(JobPlace { ended_at: Some(before), seq: i64::MAX });
            let search = JobSearch { of, need, after, max, ..JobSearch::default() };
            dead.extend(self.find_jobs(&search).await?.into_iter().map(|job| job.id));
        }
        dead.truncate(max as usize);
        Ok(dead)
    }

    async fn take(
        &mut self,
        candidates: &[JobId],
        worker: &str,
        lease: Duration,
    ) -> Stored<Vec<ClaimedJob>> {
        let tokens: Vec<_> = candidates.iter().map(|_| JobToken::new()).collect();
        let take = TakeJobs { candidates, tokens: &tokens, worker, lease };
        let (taken, _) = execute(self, &take).await?;
        hand_out(self, taken).await
    }
}
