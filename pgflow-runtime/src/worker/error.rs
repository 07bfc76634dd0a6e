//! Why a worker does not start.

use std::time::Duration;

use pgflow_machine::permit::Rate;

use crate::RegisterError;
use crate::backend::BackendError;
use crate::client::ClientError;
use crate::db::UrlError;

/// Why a worker does not start.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// use pgflow::{Worker, WorkerError};
///
/// let error = Worker::new(&db).run(std::future::pending()).await.unwrap_err();
/// assert!(matches!(error, WorkerError::NoFlows));
/// # Ok(()) })
/// # }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// It has nothing to do.
    #[error("the worker has no flows\nhelp: add one: `Worker::new(&db).flow(orders::Flow)`")]
    NoFlows,
    /// Two kinds of jobs have one need.
    #[error("need `{need}` is there twice: a worker has one function for it")]
    NeedTwice {
        /// The capability.
        need: &'static str,
    },
    /// A limit on a need that nobody here handles, or that would let none run.
    #[error("need `{need}` cannot be limited to {max}: {}", if *max == 0 { "no job could run" } else { "this worker does not handle it" })]
    NeedLimit {
        /// The capability.
        need: String,
        /// The limit.
        max: usize,
    },
    /// A pipeline batches messages as they were pushed, by a key that they were pushed without.
    #[error(
        "pipeline `{pipeline}` batches messages as they were pushed, and `Batch::key` comes too late for those\n\
         help: say it when they are pushed, with `Queue::batch_by`"
    )]
    LateKey {
        /// Its name.
        pipeline: &'static str,
    },
    /// A pipeline works on a queue whose name is that of what batches of another one are formed of.
    #[error(
        "pipeline `{pipeline}` works on queue `{queue}`, and no queue can have a name that ends with `>batch`: such are the needs of batches"
    )]
    QueueOfBatches {
        /// Its name.
        pipeline: &'static str,
        /// Its queue.
        queue: &'static str,
    },
    /// The leases of a pipeline would be over before a worker can extend them, or never.
    #[error(
        "a lease of pipeline `{pipeline}` is to last {lease:?}, and it has to be from 1 second to 100 years\n\
         help: it is extended while its function works, however long that takes"
    )]
    Lease {
        /// Its name.
        pipeline: &'static str,
        /// What it says.
        lease: Duration,
    },
    /// A pipeline limits what all processes do, and the database is that of one process.
    #[error(
        "`global_concurrency` of pipeline `{pipeline}` cannot count over all processes: {backend} in memory is that of one\n\
         help: use a database that processes share, or `.concurrency(…)`, which counts in this process"
    )]
    OneProcess {
        /// Its name.
        pipeline: &'static str,
        /// What the messages are in.
        backend: &'static str,
    },
    /// Two values are declared for one rate.
    #[error(
        "rate `{rate}` is declared as {first} and as {second}: one of them would undo the other\nhelp: say the same in all pipelines"
    )]
    RateTwice {
        /// Its name.
        rate: String,
        /// What was said first.
        first: Rate,
        /// What was said then.
        second: Rate,
    },
    /// A need takes a transaction.
    #[error(
        "need `{need}` takes `tx: &mut Tx`, and {backend} has no transactions for it\n\
         help: use Postgres, SQLite or MySQL"
    )]
    NoTransaction {
        /// The capability.
        need: &'static str,
        /// What the jobs are in.
        backend: &'static str,
    },
    /// A need takes application state that was not given.
    #[error("need `{need}` takes `State<{state}>`, which was not given\nhelp: add it: `.state(…)`")]
    NeedsState {
        /// The capability.
        need: &'static str,
        /// The type of the state.
        state: &'static str,
    },
    /// It could do nothing.
    #[error("the worker's {what} must be at least 1")]
    Zero {
        /// `concurrency`, or the limit of a step.
        what: String,
    },
    /// A variable of the environment is wrong.
    #[error("{name} is `{value}`, and must be a number of tasks, such as 16")]
    Variable {
        /// The variable.
        name: &'static str,
        /// What it holds.
        value: String,
    },
    /// A flow is wrong in itself, or needs something that was not given.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// The database has never heard of a flow.
    #[error(
        "the database does not know version {version} of flow `{flow}` (`{slug}`)\n\
         help: apply the program's migrations, `db.apply(&pgflow::migrations!())`, or register the \
         flow while you develop, `db.register(…)`"
    )]
    UnknownFlow {
        /// Name of the flow.
        flow: &'static str,
        /// Its version.
        version: u32,
        /// Slug of the version.
        slug: &'static str,
    },
    /// The database has another graph under the name of a flow.
    #[error(
        "the database has another flow under `{slug}` than this program: {}\n\
         help: if the flow was changed, its migration is missing: build the program that has it, and \
         apply its migrations before its workers start", .differences.join("; ")
    )]
    OtherShape {
        /// Slug of the version.
        slug: &'static str,
        /// What differs, a sentence each.
        differences: Vec<String>,
    },
    /// A step needs a transaction, and the backend has none.
    #[error(
        "step `{step}` of flow `{flow}` takes `tx: &mut Tx`, and {backend} has no transactions for it\n\
         help: use Postgres or SQLite"
    )]
    NoTransactions {
        /// Name of the flow.
        flow: &'static str,
        /// Slug of the step.
        step: &'static str,
        /// The backend.
        backend: &'static str,
    },
    /// A limit is for a step that the worker does not have.
    #[error("there is a limit for step `{step}` of flow `{flow}`, which this worker does not have")]
    UnknownLimit {
        /// Name of the flow.
        flow: &'static str,
        /// Slug of the step.
        step: &'static str,
    },
    /// The schedule that a flow declares can't be kept.
    #[error("the schedules of the worker's flows cannot be registered")]
    Schedules(#[source] Box<ClientError>),
    /// The operating system has no signals for us.
    #[error("cannot listen for signals")]
    Signals(#[source] std::io::Error),
    /// The operating system has no thread for us.
    #[error("cannot start the worker's own thread")]
    Thread(#[source] std::io::Error),
    /// The runtime of a [spawned](super::Worker::spawn) worker has ended before it.
    #[error("the runtime that the worker was spawned on has ended")]
    RuntimeEnded,
    /// The environment asks for something that there is not.
    #[error(transparent)]
    Environment(#[from] UrlError),
    /// The database refused.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

pgflow_model::debug_with_causes!(WorkerError);
