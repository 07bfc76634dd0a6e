//! A database with runs in it, from the outside.

mod apply;
mod connect;
pub(crate) mod environment;
mod error;
mod programs;
mod register;
mod suggest;
mod url;

use std::fmt;
use std::sync::Arc;

use pgflow_machine::Limits;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

pub use error::{ConnectError, RegisterFlowError};
pub use pgflow_backend::shown::shown;
pub(crate) use programs::program;
pub(crate) use register::version_of;
pub use url::UrlError;

use crate::backend::{Backend, BackendError};
use crate::calls;
use crate::client::{Hub, JobEnds, RunEnds, Waiting};
use crate::schedule::Declared;

/// A database with runs in it. Cheap to clone.
///
/// ```
/// # tokio_test(async {
/// use pgflow::Db;
///
/// let db = Db::connect("memory:").await?;
/// db.migrate().await?;
/// assert_eq!(db.to_string(), "memory:");
/// # Ok::<(), Box<dyn std::error::Error>>(()) });
/// # fn tokio_test<T>(f: impl Future<Output = Result<T, Box<dyn std::error::Error>>>) {
/// #     tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(f).unwrap();
/// # }
/// ```
#[derive(Clone)]
pub struct Db {
    backend: Arc<dyn Backend>,
    /// What people are shown: no password is in it.
    name: Arc<str>,
    limits: Arc<OnceCell<Limits>>,
    /// Workers stop when it is closed.
    closed: CancellationToken,
    waiting: Arc<Waiting<RunEnds>>,
    job_waiting: Arc<Waiting<JobEnds>>,
    hub: Arc<Hub>,
    declared: Arc<Declared>,
}

impl AsRef<Self> for Db {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Db {
    /// On a backend of your own.
    pub fn new(backend: impl Backend) -> Self {
        let name = format!("{}:", backend.name());
        Self::named(Arc::new(backend), name)
    }

    fn named(backend: Arc<dyn Backend>, name: String) -> Self {
        Self {
            backend,
            name: name.into(),
            limits: Arc::default(),
            closed: CancellationToken::new(),
            waiting: Arc::default(),
            job_waiting: Arc::default(),
            hub: Arc::default(),
            declared: Arc::default(),
        }
    }

    /// Brings the database's schema up to date. Safe to call at every start of every process.
    pub async fn migrate(&self) -> Result<(), BackendError> {
        self.backend.migrate().await
    }

    /// The backend: the contract that everything here is built on.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// What payloads the database takes.
    pub async fn limits(&self) -> Result<Limits, BackendError> {
        let read = || calls::apart(&self.backend, |backend| backend.limits());
        self.limits.get_or_try_init(read).await.copied()
    }

    /// Closes its connections, for all clones. From then on every call fails with [`BackendError::Closed`], and so
    /// does a worker that still runs: stop workers first, so that they can settle or give back what they have.
    pub async fn close(&self) -> Result<(), BackendError> {
        self.closed.cancel();
        // Where its connections are.
        calls::apart(&self.backend, |backend| backend.close()).await
    }

    /// Flows with schedules that this program has.
    pub(crate) fn declared(&self) -> &Arc<Declared> {
        &self.declared
    }

    /// What readers of streams share.
    pub(crate) fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Those of this process who wait for jobs.
    pub(crate) fn job_waiting(&self) -> &Arc<Waiting<JobEnds>> {
        &self.job_waiting
    }

    /// Those of this process who wait for runs.
    pub(crate) fn waiting(&self) -> &Arc<Waiting<RunEnds>> {
        &self.waiting
    }

    /// Ready when it is closed.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        self.closed.clone().cancelled_owned()
    }
}

impl fmt::Display for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Db({})", self.name)
    }
}
