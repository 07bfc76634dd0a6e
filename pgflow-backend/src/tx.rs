//! Transactions that steps share with the record of their completion.

use std::any::Any;
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgflow_machine::job::{JobProblem, NewJob, Submitted};
use pgflow_machine::permit::Message;
use pgflow_machine::wait::{Signal, Signalled};
use pgflow_machine::{NewRun, Started};

use crate::backend::{BackendError, Reply};

/// A transaction of some backend, in the hands of a step.
///
/// [`Work::begin`](crate::backend::Work::begin) hands it out, and the same backend takes it back: it knows its own by their type.
pub trait StepTransaction: Any + Debug + Send {
    /// Starts a run as part of it.
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started>;

    /// Submits a job as part of it.
    fn submit_job<'a>(
        &'a mut self,
        job: &'a NewJob,
        by: &'a str,
    ) -> Reply<'a, Result<Submitted, JobProblem>>;

    /// Pushes a message as part of it.
    fn push<'a>(
        &'a mut self,
        message: &'a Message,
        by: &'a str,
    ) -> Reply<'a, Result<Submitted, JobProblem>> {
        let _ = (message, by);
        let error = BackendError::Unsupported {
            backend: "this database",
            what: "push a message in a transaction",
        };
        Box::pin(std::future::ready(Err(error)))
    }

    /// Sends a signal as part of it.
    fn signal<'a>(&'a mut self, signal: &'a Signal) -> Reply<'a, Signalled> {
        let _ = signal;
        let error = BackendError::Unsupported {
            backend: "this database",
            what: "send a signal in a transaction",
        };
        Box::pin(std::future::ready(Err(error)))
    }

    /// Undoes everything. If the connection is gone, so is the transaction.
    fn rollback(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// The lock that it keeps all other writers of its database out with, if it has such a lock.
    fn write_lock(&self) -> Option<WriteLock> {
        None
    }
}

/// A transaction of any backend.
pub type StepTx = Box<dyn StepTransaction>;

impl dyn StepTransaction {
    /// The transaction itself, if it is of this type.
    pub fn downcast<T: StepTransaction>(self: Box<Self>) -> Option<T> {
        let any: Box<dyn Any> = self;
        any.downcast().ok().map(|it| *it)
    }

    /// Access to the transaction itself, if it is of this type.
    pub fn downcast_mut<T: StepTransaction>(&mut self) -> Option<&mut T> {
        let any: &mut dyn Any = self;
        any.downcast_mut()
    }
}

tokio::task_local! {
    /// What the step that runs in this task has.
    static HELD: WriteLock;
}

/// The one lock of a database where only one transaction of all can write, such as a file of SQLite's. A call that waits for
/// it inside of the step that has it would wait for ever.
#[derive(Clone, Debug)]
pub struct WriteLock {
    /// How long a step may have it.
    pub longest: Duration,
    /// Nobody waits any more for the statement that is at work.
    is_interrupted: Arc<AtomicBool>,
}

impl WriteLock {
    /// That of a database, which a step may have for so long.
    pub fn new(longest: Duration) -> Self {
        Self { longest, is_interrupted: Arc::default() }
    }

    /// What the step that runs here has.
    pub fn held_here() -> Option<Self> {
        HELD.try_with(Clone::clone).ok()
    }

    /// Does something as part of a step that has it.
    pub async fn held_by<T>(self, work: impl Future<Output = T>) -> T {
        HELD.scope(self, work).await
    }

    /// Whether the step that runs here has this one.
    pub fn is_held_here(&self) -> bool {
        let held = Self::held_here();
        held.is_some_and(|held| Arc::ptr_eq(&held.is_interrupted, &self.is_interrupted))
    }

    /// Ends the statement that is at work.
    pub fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::Release);
    }

    /// The connection is another's now.
    pub fn go_on(&self) {
        self.is_interrupted.store(false, Ordering::Release);
    }

    /// Whether the statement that is at work is to end.
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Acquire)
    }
}
