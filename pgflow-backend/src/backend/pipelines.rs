//! Pipelines: the part of the contract about messages, batches and permits.

use std::collections::BTreeMap;
use std::time::Duration;

use pgflow_machine::job::{JobHold, JobId, JobProblem, JobSettled, Submitted};
use pgflow_machine::permit::{
    Bucket, FormedBatches, Message, MessageLease, MessageSettle, Rate, Resource, Stage, Trigger,
    Units,
};
use pgflow_machine::{Claim, Quota, Source, TaskLease, Timestamp, Want, WorkerId};

use super::{Claimed, ClaimedJob, Reply};
use crate::tx::StepTx;

/// A database that keeps queues. A queue is a need and a message is a job: leases, beats, lapses, redrives and what people
/// look at are those of [`Jobs`](super::Jobs). Every method is one transaction.
///
/// | rule | |
/// |---|---|
/// | P1 | a batch is never both short and young, unless whoever asks drains; what was lost with its worker goes alone, one at a time |
/// | P2 | of a resource, no more units are held than its capacity; what a hold is held by is a lease |
/// | P3 | of a rate, no window of its period has more than its amount and its burst |
/// | P4 | a settle of many messages is one transaction; each has a fence of its own |
/// | P5 | what a message emits is there if and only if its settle took effect |
/// | P6 | what is written in the transaction of an attempt is there if and only if all of its messages were settled with it |
///
/// ```
/// use pgflow_backend::backend::{Backend, StageClaim};
/// use pgflow_backend::memory::Memory;
/// use pgflow_machine::job::NewJob;
///
/// # pgflow::testing::block_on(async {
/// let memory = Memory::new();
/// let queue = memory.pipelines()?;
/// let message = NewJob::new("doc-1".parse().unwrap(), "ingest", 7).into();
/// queue.push(&[message], "crawler").await?;
/// let claimed = queue.claim_stage(&StageClaim::new("worker", "ingest", 1)).await?;
/// assert_eq!(claimed.batches[0].messages[0].payload, 7);
/// # Ok::<(), pgflow_backend::backend::BackendError>(())
/// # }).unwrap();
/// ```
pub trait Pipelines: Send + Sync {
    /// Pushes messages. One that is refused does not keep the others out.
    fn push<'a>(
        &'a self,
        messages: &'a [Message],
        by: &'a str,
    ) -> Reply<'a, Vec<Result<Submitted, JobProblem>>>;

    /// Leases messages of one queue to a worker, with all that the stage needs for them, or says when there may be some.
    fn claim_stage<'a>(&'a self, claim: &'a StageClaim) -> Reply<'a, ClaimedBatches>;

    /// Leases tasks of one step of a flow to a worker, with all that each attempt needs for them, or says when there may be some.
    /// What a task got it holds for as long as its attempt has it.
    fn claim_step<'a>(&'a self, claim: &'a StepClaim) -> Reply<'a, Claimed>;

    /// Settles messages: an answer for each, in their order.
    fn settle_messages<'a>(
        &'a self,
        settles: &'a [MessageSettle],
        by: &'a str,
    ) -> Reply<'a, Vec<JobSettled>>;

    /// Opens the transaction that an attempt with `tx` works in, if all of its leases hold and none of its messages is cancelled.
    fn begin_messages<'a>(&'a self, holds: &'a [JobHold]) -> Reply<'a, Option<StepTx>>;

    /// Settles the messages of an attempt in its transaction, and commits if all of that took effect; otherwise all that was
    /// written in it is undone, and the answers say why.
    fn commit_messages<'a>(
        &'a self,
        tx: StepTx,
        settles: &'a [MessageSettle],
        by: &'a str,
    ) -> Reply<'a, Vec<JobSettled>>;

    /// Declares rates, as a program that starts does. An error if there is not as much of a resource as its attempts are to hold.
    fn declare<'a>(
        &'a self,
        rates: &'a BTreeMap<String, Rate>,
        resources: &'a Units,
    ) -> Reply<'a, ()>;

    /// Notes what claims of queues take, as a program that starts does: for those who ask why a message is not taken; for those who
    /// take jobs back whose leases lapsed ([`Stage::of_queue`]); and as the place where batches are counted. What the last one noted
    /// is kept.
    fn note_stages<'a>(&'a self, stages: &'a BTreeMap<String, Stage>) -> Reply<'a, ()>;

    /// What claims of each queue take, as far as that is anything.
    fn stages(&self) -> Reply<'_, BTreeMap<String, Stage>>;

    /// Batches that claims have formed of each need since its stage was noted first, where there were some.
    fn formed(&self) -> Reply<'_, BTreeMap<String, FormedBatches>>;

    /// Sets a rate, for all processes at their next claim.
    fn set_rate<'a>(&'a self, slug: &'a str, rate: Rate) -> Reply<'a, ()>;

    /// A rate and what is left of it.
    fn rate<'a>(&'a self, slug: &'a str) -> Reply<'a, Option<Bucket>>;

    /// All rates, and what is left of them.
    fn rates(&self) -> Reply<'_, BTreeMap<String, Bucket>>;

    /// Sets how many units there are of a resource. Who holds more keeps it.
    fn set_capacity<'a>(&'a self, slug: &'a str, capacity: u32) -> Reply<'a, ()>;

    /// A resource, and how many units of it are held.
    fn resource<'a>(&'a self, slug: &'a str) -> Reply<'a, Option<(Resource, u32)>>;

    /// All resources, and how many units of each are held.
    fn resources(&self) -> Reply<'_, BTreeMap<String, (Resource, u32)>>;

    /// Whether messages of a queue have places, so that a flood of one key does not starve the others.
    fn is_fair<'a>(&'a self, need: &'a str) -> Reply<'a, bool>;

    /// How many messages of these queues wait, for whatever, counted up to `most`. That of other queues costs nothing.
    fn depth<'a>(&'a self, needs: &'a [String], most: u64) -> Reply<'a, u64>;

    /// What is kept of a message besides its job, if that is anything.
    fn message<'a>(&'a self, id: &'a JobId) -> Reply<'a, Option<MessageRow>>;

    /// Forgets up to `max` keys of a fair queue that it has caught up with: their next messages join the next round either way.
    /// Says how many.
    fn prune_turns<'a>(&'a self, need: &'a str, max: u32) -> Reply<'a, u64>;

    /// Forgets messages that are dead, with their traces; those that are not are left as they are. Says how many.
    fn drop_dead<'a>(&'a self, messages: &'a [JobId]) -> Reply<'a, u64>;

    /// Forgets up to `max` messages of a queue that have been dead for longer than this. Says how many.
    fn prune_dead<'a>(&'a self, need: &'a str, older_than: Duration, max: u32) -> Reply<'a, u64>;
}

/// What a worker wants of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageClaim {
    /// Who it is.
    pub worker: String,
    /// The queue.
    pub need: String,
    /// How long its leases last.
    pub lease: Duration,
    /// Attempts at most: messages, or batches.
    pub max: u32,
    /// What the stage takes.
    pub stage: Stage,
}

impl StageClaim {
    /// Up to so many messages, one by one, for a minute.
    pub fn new(worker: &str, need: &str, max: u32) -> Self {
        let (worker, need, lease) = (worker.to_owned(), need.to_owned(), Duration::from_mins(1));
        Self { worker, need, lease, max, stage: Stage::default() }
    }
}

/// What a worker wants of one step whose attempts need more than a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepClaim {
    /// Who it is.
    pub worker: WorkerId,
    /// Slug of the version of the flow.
    pub flow: String,
    /// Slug of the step.
    pub step: String,
    /// Slugs of the other steps of that version.
    pub others: Vec<String>,
    /// Tasks at most.
    pub max: u32,
    /// What each attempt takes.
    pub stage: Stage,
}

impl StepClaim {
    /// The same as a claim of so many tasks, without what they need besides.
    pub fn of_tasks(&self, max: u32) -> Claim {
        let quota = |step: &String, max| Quota { step: step.clone(), max };
        let others = self.others.iter().map(|step| quota(step, 0));
        let quotas = std::iter::once(quota(&self.step, max)).chain(others).collect();
        let want = Want { quotas, ..Want::from(Source::queue(&*self.flow)) };
        Claim { wants: vec![want], max, worker: self.worker }
    }
}

/// Units of a resource that are held by an attempt at a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskHold {
    /// The resource.
    pub resource: String,
    /// Slug of the version of the flow.
    pub flow: String,
    /// The attempt: without it, nothing is held.
    pub lease: TaskLease,
    /// How many units.
    pub units: u32,
    /// The number of the grant.
    pub fence: u64,
}

/// Each task holds for itself.
impl From<&TaskHold> for Hold {
    fn from(hold: &TaskHold) -> Self {
        let TaskLease { task, attempt } = &hold.lease;
        let token = format!("{}/{}/{}/{attempt}", task.run, task.step, task.index);
        let (resource, batch) = (hold.resource.clone(), token.clone());
        Self { resource, job: 0, token, batch, units: hold.units, fence: hold.fence }
    }
}

/// What a worker got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimedBatches {
    /// An attempt each.
    pub batches: Vec<ClaimedBatch>,
    /// When there may be more, if that is known: a batch is ripe, a rate has a token, a sleeper wakes, a lease lapses.
    pub next_in: Option<Duration>,
}

/// Messages for one attempt: one, or a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedBatch {
    /// What it is settled with.
    pub lease: MessageLease,
    /// The messages, in the order of the lease.
    pub messages: Vec<ClaimedJob>,
    /// Why it is a batch, if it is one.
    pub trigger: Option<Trigger>,
    /// How long its oldest message could have been taken.
    pub waited: Duration,
    /// The number of the grant of each resource that it holds.
    pub fences: BTreeMap<String, u64>,
}

/// Units of a resource that are held by the lease of a job, or by an attempt at a task, which has no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The resource.
    pub resource: String,
    /// The place of the job, which its lease is found by.
    pub job: i64,
    /// The token of the lease: without it, nothing is held.
    pub token: String,
    /// Messages that were claimed together hold together.
    pub batch: String,
    /// How many units.
    pub units: u32,
    /// The number of the grant.
    pub fence: u64,
}

/// What is kept of a message besides its job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageRow {
    /// Which batches it may be in.
    pub batch_key: Option<String>,
    /// What an attempt at it holds.
    pub resources: Units,
    /// It keeps its key waiting until then.
    pub not_before: Option<Timestamp>,
}
