//! Work, as a worker takes it.

use std::fmt;
use std::time::Duration;

use pgflow_machine::{Beat, GRACE, Lease, Settle, Settled, TaskLease, WorkerId};
use serde_json::Value;

use super::{Claim, ClaimedBatch, ClaimedJob, Reply, Source};
use crate::tx::StepTx;

/// Work: who may do it, and what became of it.
pub trait Work: fmt::Debug + Send + Sync + 'static {
    /// Takes tasks, none of them for longer than its step's timeout and two seconds.
    fn claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, Claimed>;

    /// Settles attempts, and claims more work on the same trip if `next` says so. There is an
    /// outcome per settle, in their order.
    fn settle<'a>(
        &'a self,
        settles: &'a [Settle],
        next: Option<&'a Claim>,
    ) -> Reply<'a, Settlement>;

    /// Says that tasks are still being worked on; an answer per lease, in their order.
    fn heartbeat<'a>(&'a self, leases: &'a [Lease]) -> Reply<'a, Vec<Beat>>;

    /// Takes back tasks of workers that are gone, and ends steps that lost too many. Any process may call
    /// it at any time.
    fn sweep(&self) -> Reply<'_, Swept>;

    /// [Sweeps](Self::sweep), then [claims](Self::claim), in one call: for workers that have nothing else to say. What
    /// was lost can be claimed at once. The two may be transactions of their own.
    fn sweep_and_claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, (Swept, Claimed)> {
        Box::pin(async move {
            let swept = self.sweep().await?;
            Ok((swept, self.claim(claim).await?))
        })
    }

    /// Gives back, as [`Verdict::Released`](pgflow_machine::Verdict::Released) does, what the database says this
    /// worker holds of these sources and the worker does not know of: tasks of a claim whose answer got lost.
    /// Returns how many there were. A lease is known with its attempt.
    ///
    /// Not while a claim of the same worker is under way: it would lose what it is about to be told.
    fn release_unknown<'a>(
        &'a self,
        worker: WorkerId,
        sources: &'a [Source],
        known: &'a [Lease],
    ) -> Reply<'a, u64>;

    /// Makes work of these sources ready at once that wait because a worker
    /// [yielded](pgflow_machine::Verdict::Yielded) them, and returns how many: a worker asks for it when it starts, because
    /// it may be able to do what others could not. A backend that does not lets them wait out their delay.
    fn resume<'a>(&'a self, sources: &'a [Source]) -> Reply<'a, u64> {
        let _ = sources;
        Box::pin(std::future::ready(Ok(0)))
    }

    /// A worker has ended, and everything it had is recorded or given back: for people who look at what workers there are.
    /// From this call on, before its answer is awaited, the worker does not count as alive.
    fn sign_off(&self, worker: WorkerId) -> Reply<'_, ()> {
        let _ = worker;
        Box::pin(std::future::ready(Ok(())))
    }

    /// Opens the transaction that a `tx` step runs in, if the lease still holds.
    fn begin<'a>(&'a self, lease: &'a Lease) -> Reply<'a, Option<StepTx>>;

    /// Records the completion of a `tx` step in its transaction, and commits if it took effect; otherwise all
    /// that the step wrote is undone.
    fn commit<'a>(&'a self, tx: StepTx, settle: &'a Settle) -> Reply<'a, Settled>;
}

/// What a worker got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claimed {
    /// Tasks, each leased to this worker.
    pub tasks: Vec<ClaimedTask>,
    /// Jobs, each leased to this worker for so long.
    pub jobs: Vec<(ClaimedJob, Duration)>,
    /// Messages of queues, by attempts.
    pub batches: Vec<ClaimedBatch>,
    /// When the next delayed task becomes ready, if the backend knows: no need to look before.
    pub next_in: Option<Duration>,
    /// A part of the claim failed, and it is not known what that took.
    pub is_partial: bool,
}

/// A task that a worker may run now.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedTask {
    /// What it is settled with.
    pub lease: TaskLease,
    /// Slug of its version of the flow.
    pub flow: String,
    /// For a map, an element; otherwise an object with the run's input as `run` and the outputs of completed
    /// dependencies by slug.
    pub input: Value,
    /// How long it may take. The lease lasts two seconds longer, and a heartbeat renews it.
    pub timeout: Duration,
}

/// Something that a worker may do now.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimedWork {
    /// A task of a flow.
    Task(ClaimedTask),
    /// A job, leased for so long.
    Job(Box<ClaimedJob>, Duration),
    /// Messages of a queue.
    Messages(Box<ClaimedBatch>),
}

impl ClaimedWork {
    /// What it is settled with.
    pub fn lease(&self) -> Lease {
        match self {
            Self::Task(task) => task.lease.clone().into(),
            Self::Job(job, lasts) => Lease::Job { hold: job.taken.hold.clone(), lasts: *lasts },
            Self::Messages(batch) => Lease::Messages(batch.lease.clone()),
        }
    }

    /// Where it comes from.
    pub fn source(&self) -> Source {
        match self {
            Self::Task(task) => Source::queue(&*task.flow),
            Self::Job(job, _) => Source::Need(job.taken.row.need.clone()),
            Self::Messages(batch) => Source::Need(batch.lease.need.clone()),
        }
    }

    /// How long it may take, or its lease lasts.
    pub fn timeout(&self) -> Duration {
        match self {
            Self::Task(task) => task.timeout,
            Self::Job(_, lasts) => *lasts,
            Self::Messages(batch) => batch.lease.lasts,
        }
    }

    /// After how long nobody has it any more, unless its lease is extended.
    pub fn lasts(&self) -> Duration {
        match self {
            Self::Task(task) => task.timeout.saturating_add(GRACE),
            Self::Job(..) | Self::Messages(_) => self.timeout(),
        }
    }
}

impl Claimed {
    /// These tasks, and no more until then.
    pub fn of_tasks(tasks: Vec<ClaimedTask>, next_in: Option<Duration>) -> Self {
        Self { tasks, next_in, ..Self::default() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tasks.len() + self.jobs.len() + self.batches.len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of it.
    pub fn into_work(self) -> impl Iterator<Item = ClaimedWork> {
        let jobs = self.jobs.into_iter().map(|(job, lasts)| ClaimedWork::Job(Box::new(job), lasts));
        let batches = self.batches.into_iter().map(|batch| ClaimedWork::Messages(Box::new(batch)));
        self.tasks.into_iter().map(ClaimedWork::Task).chain(jobs).chain(batches)
    }
}

/// What became of a batch of settles, and what was claimed on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settlement {
    /// One per settle.
    pub settled: Vec<Settled>,
    /// More to do.
    pub claimed: Claimed,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Tasks that were queued again.
    pub requeued: u64,
}
