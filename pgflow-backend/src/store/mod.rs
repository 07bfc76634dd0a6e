//! Databases that decide nothing.
//!
//! A [`Store`] loads and writes rows inside of its transactions. Everything that happens to them is decided by
//! `pgflow-machine`, and the way from a call of the contract to a transaction of the store is written here once: every
//! store is a [`Backend`](crate::backend::Backend).
//!
//! Implementations are part of this project: the traits change with it.

mod backend;
mod claim;
mod cursors;
mod definitions;
mod execute;
mod job_claim;
mod job_session;
mod job_upkeep;
mod jobs;
mod pipeline_claim;
mod pipeline_session;
mod pipelines;
mod queues;
mod read;
mod recovery;
mod schedule_columns;
mod schedule_session;
mod schedules;
mod session;
mod signed;
mod start;
mod step;
mod step_claim;
mod stream_session;
mod streams;
mod trip;
pub mod upkeep;
mod wait_session;
mod waits;

use std::future::Future;
use std::time::Duration;

use pgflow_machine::{Limits, NewRun, Started, WorkerId};

pub use cursors::Cursors;
pub use job_session::JobSession;
pub use job_upkeep::JobUpkeepSession;
pub use jobs::{Ready, submit_in};
pub use pipeline_session::{EndedMessages, Look, Looked, PipelineSession};
pub use pipelines::{push_in_transaction, settle_in as settle_messages_in};
pub use queues::{Front, QueueSession, Queues, TakenTasks};
pub use schedule_columns::ScheduleColumns;
pub use schedule_session::ScheduleSession;
pub use session::{Logged, OpenWork, Session, Take, Taken};
pub use signed::Signed;
pub use start::start_in;
pub use stream_session::{StreamFound, StreamSession};
pub use upkeep::upkeep;
pub use wait_session::{OpenWait, Orphan, SignalFound, SignalRow, WaitSession, WaitsOf};
pub use waits::signal_in;

use crate::backend::{Abilities, BackendError, Upkeep, Wake, Wakes};
use crate::gathering::Gathering;
use crate::tx::StepTx;

/// What a method of a store leads to.
pub type Stored<T> = Result<T, BackendError>;

/// Starts that wait for their turn: those that come while others are written share a transaction.
pub type Starts = Gathering<NewRun, Stored<Started>>;

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only to read.
    Read,
    /// To read and write: what it reads stays so until it ends.
    Write,
    /// For a step, which may take long: it reads, and keeps nobody from anything unless the database can't help it.
    Step,
}

/// A database that keeps rows.
pub trait Store: Upkeep {
    /// A transaction. One that is dropped is undone.
    type Session: Session;

    /// Its name, for messages.
    const NAME: &'static str;

    /// What it can do.
    fn abilities(&self) -> Abilities;

    /// What payloads it takes.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Brings the schema up to date.
    fn migrate(&self) -> impl Future<Output = Stored<()>> + Send;

    /// Opens a transaction.
    fn begin(&self, access: Access) -> impl Future<Output = Stored<Self::Session>> + Send;

    /// Commits a transaction.
    fn commit(&self, session: Self::Session) -> impl Future<Output = Stored<()>> + Send;

    /// An error if a transaction asked for here would wait for itself.
    fn check_free(&self) -> Stored<()> {
        Ok(())
    }

    /// How long to wait before a transition that met this error is tried again as a whole, if that may help: when the
    /// database has undone it because of another. `tries` counts from 1.
    fn pause_before_retry(&self, error: &BackendError, tries: u32) -> Option<Duration> {
        let _ = (error, tries);
        None
    }

    /// A number that is another one in each claim.
    fn nth_claim(&self) -> u32;

    /// How far claims have looked at queues.
    fn cursors(&self) -> &Cursors;

    /// Where starts are gathered, if several in one transaction cost less.
    fn starts(&self) -> Option<&Starts> {
        None
    }

    /// Hands a transaction to a step.
    fn lend(&self, session: Self::Session) -> impl Future<Output = Stored<StepTx>> + Send {
        drop(session);
        std::future::ready(Err(Self::no_transactions()))
    }

    /// Takes it back; an error if the step has ended it.
    fn take_back(&self, tx: StepTx) -> impl Future<Output = Stored<Self::Session>> + Send {
        drop(tx);
        std::future::ready(Err(Self::no_transactions()))
    }

    /// Commits what a step did: an error that lies in that is [`BackendError::NotCommitted`].
    fn commit_step(&self, session: Self::Session) -> impl Future<Output = Stored<()>> + Send {
        self.commit(session)
    }

    /// Undoes a transaction before this returns.
    fn undo(&self, session: Self::Session) -> impl Future<Output = Stored<()>> + Send {
        drop(session);
        std::future::ready(Ok(()))
    }

    /// Says that the workers of this process are alive, if it is time to; nothing depends on it.
    fn beat(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// A worker has ended: from this call on, before its answer is awaited, it does not count as alive.
    fn sign_off(&self, worker: WorkerId) -> impl Future<Output = Stored<()>> + Send;

    /// Tells those who listen.
    fn wake(&self, wake: Wake);

    /// Begins to listen.
    fn wakes(&self) -> Wakes;

    /// Closes its connections.
    fn close(&self) -> impl Future<Output = Stored<()>> + Send;

    /// What to say of a step that wants a transaction where there are none.
    fn no_transactions() -> BackendError {
        BackendError::Unsupported { backend: Self::NAME, what: "open a transaction for a step" }
    }
}
