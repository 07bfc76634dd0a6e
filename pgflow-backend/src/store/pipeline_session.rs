//! Messages and permits of a store: rows in, rows out.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{JobId, JobToken};
use pgflow_machine::permit::{PermitKey, PermitKind, Place, Waiting};
use serde_json::Value;

use super::Stored;
use crate::backend::{Hold, MessageRow, TaskHold};

/// What a claim wants to see first.
#[derive(Clone, Debug)]
pub struct Look<'a> {
    /// Who claims.
    pub worker: &'a str,
    /// The queue.
    pub need: &'a str,
    /// Permits; of resources also who holds them.
    pub permits: BTreeSet<PermitKey>,
    /// So many messages.
    pub max: u32,
    /// Whether it is to be known when the next change comes.
    pub wants_change: bool,
}

/// What a claim sees first.
#[derive(Clone, Debug, Default)]
pub struct Looked {
    /// Permits that are there.
    pub permits: BTreeMap<PermitKey, Value>,
    /// Holds of their resources.
    pub holds: Vec<Hold>,
    /// Messages, by priority, then place.
    pub page: Vec<Waiting>,
    /// When the next change comes, if there is one.
    pub change: Option<Timestamp>,
}

/// What changes about messages when attempts at them end.
#[derive(Clone, Debug, Default)]
pub struct EndedMessages {
    /// Leases that hold nothing any more.
    pub tokens: Vec<JobToken>,
    /// Messages of which nothing is kept any more.
    pub over: Vec<JobId>,
    /// What is kept of messages.
    pub kept: BTreeMap<JobId, MessageRow>,
    /// Messages that keep their keys waiting until then.
    pub deferred: BTreeMap<JobId, Timestamp>,
}

/// The names of those that are resources.
fn resources(permits: &BTreeSet<PermitKey>) -> BTreeSet<String> {
    let resources = permits.iter().filter(|key| key.kind == PermitKind::Resource);
    resources.map(|key| key.name.clone()).collect()
}

/// The part of a transaction that is about messages and permits. It decides nothing.
pub trait PipelineSession: Send {
    /// Permits, as far as they are there. A store that locks rows locks these, in their order.
    fn load_permits(
        &mut self,
        keys: &BTreeSet<PermitKey>,
    ) -> impl Future<Output = Stored<BTreeMap<PermitKey, Value>>> + Send;

    /// Permits that are wanted after others. A store that locks rows may leave out those that somebody else has, so that nobody
    /// waits in a ring.
    fn load_more_permits(
        &mut self,
        keys: &BTreeSet<PermitKey>,
    ) -> impl Future<Output = Stored<BTreeMap<PermitKey, Value>>> + Send {
        self.load_permits(keys)
    }

    /// Resources and stages, as far as they are there. They stay for ever, so nothing need be locked.
    fn known_permits(
        &mut self,
        keys: &BTreeSet<PermitKey>,
    ) -> impl Future<Output = Stored<BTreeMap<PermitKey, Value>>> + Send {
        self.load_permits(keys)
    }

    /// What is kept of a message besides its job, if that is anything.
    fn message(&mut self, id: &JobId) -> impl Future<Output = Stored<Option<MessageRow>>> + Send;

    /// Forgets up to `max` keys of a fair queue whose last place the queue has come to. Says how many.
    fn drop_turns(&mut self, queue: &str, max: u32) -> impl Future<Output = Stored<u64>> + Send;

    /// Looks at the clock again, where a transaction sees what others have committed since it began: what follows from that must
    /// not be earlier than it.
    fn tick(&mut self) -> impl Future<Output = Stored<()>> + Send {
        std::future::ready(Ok(()))
    }

    /// What a claim has to see first, in as few statements as the store can.
    fn look(&mut self, look: &Look<'_>) -> impl Future<Output = Stored<Looked>> + Send {
        async move {
            let change = if look.wants_change { self.next_change(look.need).await? } else { None };
            let permits = self.load_permits(&look.permits).await?;
            let resources = resources(&look.permits);
            let is_some = !resources.is_empty();
            let holds = if is_some { self.load_holds(&resources).await? } else { Vec::new() };
            let page = self.waiting(look.need, None, look.max).await?;
            Ok(Looked { permits, holds, page, change })
        }
    }

    /// Writes what the end of attempts changes, in as few statements as the store can. Says of which resources
    /// something was held.
    fn end_messages(
        &mut self,
        ended: &EndedMessages,
    ) -> impl Future<Output = Stored<BTreeSet<String>>> + Send {
        async move {
            let dropped = self.drop_holds(&ended.tokens).await?;
            if !ended.over.is_empty() {
                self.drop_messages(&ended.over).await?;
            }
            if !ended.deferred.is_empty() {
                self.defer_messages(&ended.deferred).await?;
            }
            if !ended.kept.is_empty() {
                self.write_messages(&ended.kept).await?;
            }
            Ok(dropped)
        }
    }

    /// All permits of a kind, by name. None is locked.
    fn permits_of(
        &mut self,
        kind: PermitKind,
    ) -> impl Future<Output = Stored<BTreeMap<String, Value>>> + Send;

    /// Writes permits.
    fn write_permits(
        &mut self,
        rows: &BTreeMap<PermitKey, Value>,
    ) -> impl Future<Output = Stored<()>> + Send;

    /// Holds of these resources whose leases are there, of jobs and of tasks.
    fn load_holds(
        &mut self,
        resources: &BTreeSet<String>,
    ) -> impl Future<Output = Stored<Vec<Hold>>> + Send;

    /// Adds holds, and deletes those of the same resources whose leases are gone.
    fn add_holds(&mut self, holds: &[Hold]) -> impl Future<Output = Stored<()>> + Send;

    /// Adds holds of tasks, and deletes those of the same resources whose attempts are over.
    fn add_task_holds(&mut self, holds: &[TaskHold]) -> impl Future<Output = Stored<()>> + Send;

    /// Deletes the holds of leases that have ended. Says of which resources there were some.
    fn drop_holds(
        &mut self,
        tokens: &[JobToken],
    ) -> impl Future<Output = Stored<BTreeSet<String>>> + Send;

    /// Up to `max` messages of a queue that are ready and not expired, by priority, then place: those after this priority and
    /// place. A store that has to read payloads to measure them ends with the message that makes `CLAIM_BYTES` of them.
    fn waiting(
        &mut self,
        need: &str,
        after: Option<Place>,
        max: u32,
    ) -> impl Future<Output = Stored<Vec<Waiting>>> + Send;

    /// The same of messages with these batch keys, up to `max` of each; a store may leave out what somebody else has locked. Of a key
    /// with hundreds of messages that are not ready, such as dead ones, it may find fewer than there are.
    fn waiting_of(
        &mut self,
        need: &str,
        keys: &[String],
        after: Option<Place>,
        max: u32,
    ) -> impl Future<Output = Stored<Vec<Waiting>>> + Send;

    /// How many messages of a queue are ready, asleep or in line for their keys, up to so many.
    fn depth(&mut self, need: &str, most: u64) -> impl Future<Output = Stored<u64>> + Send;

    /// When the first sleeper of a queue wakes or the first lease lapses: of its messages, or with a key that they are in line for.
    fn next_change(&mut self, need: &str)
    -> impl Future<Output = Stored<Option<Timestamp>>> + Send;

    /// Writes what is kept of messages besides their jobs.
    fn write_messages(
        &mut self,
        rows: &BTreeMap<JobId, MessageRow>,
    ) -> impl Future<Output = Stored<()>> + Send;

    /// Lets these messages keep their keys waiting until then, whether anything is kept of them or not.
    fn defer_messages(
        &mut self,
        until: &BTreeMap<JobId, Timestamp>,
    ) -> impl Future<Output = Stored<()>> + Send;

    /// Deletes what is kept of messages besides their jobs.
    fn drop_messages(&mut self, messages: &[JobId]) -> impl Future<Output = Stored<()>> + Send;

    /// Forgets those of these jobs that failed or crashed, with their traces and whatever else is kept of them. Says how many.
    fn forget_dead(&mut self, jobs: &[JobId]) -> impl Future<Output = Stored<u64>> + Send;
}
