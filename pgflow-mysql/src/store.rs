//! The contract's store: connections, transactions, hints.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow_backend::backend::{Abilities, BackendError, Wake, Wakes};
use pgflow_backend::store::{Access, Cursors, Signed, Starts, Store, Stored};
use pgflow_backend::tx::StepTx;
use pgflow_machine::{Limits, WorkerId};
use tokio::time::timeout;

use crate::catalog::Known;
use crate::connections::{Connections, PooledConnection};
use crate::error::{has_waited, is_passing};
use crate::hints::Hints;
use crate::session::MySqlSession;
use crate::{MySqlError, MySqlOptions, migrate, step, upkeep};

/// A transition that lost against others is run again so often, and one that waited for a lock in vain less often.
const TRIES: u32 = 10;
const TRIES_LOCKED: u32 = 2;

/// Runs in a MySQL or MariaDB database.
///
/// A process has at most [`connections`](MySqlOptions::connections) (4) connections for the engine, one for hints, and for `tx`
/// steps as many as run at once, up to [`tx_connections`](MySqlOptions::tx_connections) (4). None of them is shared with the
/// application's own queries, so neither can starve the other.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use pgflow_mysql::MySql;
/// use pgflow_backend::backend::Backend;
///
/// let mysql = MySql::connect("mysql://app@localhost/shop").await?;
/// mysql.migrate().await?;
/// # Ok(())
/// # }
/// ```
pub struct MySql {
    pub(crate) connections: Connections,
    pub(crate) known: Known,
    hints: Hints,
    starts: Starts,
    pub(crate) signed: Signed,
    claims: AtomicU32,
    cursors: Cursors,
    place: String,
}

impl MySql {
    /// Connects to what a URL such as `mysql://app@localhost/shop` names. The database has to be there.
    pub async fn connect(url: &str) -> Result<Self, BackendError> {
        Self::open(&url.parse()?).await
    }

    /// Connects.
    pub async fn open(options: &MySqlOptions) -> Result<Self, BackendError> {
        Ok(Self {
            connections: Connections::open(options).await?,
            known: Known::default(),
            hints: Hints::new(options),
            starts: Starts::default(),
            signed: Signed::default(),
            claims: AtomicU32::new(0),
            cursors: Cursors::default(),
            place: options.place.clone(),
        })
    }
}

impl fmt::Debug for MySql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MySql").field("at", &self.place).finish_non_exhaustive()
    }
}

impl Store for MySql {
    type Session = MySqlSession<PooledConnection>;

    const NAME: &'static str = "mysql";

    fn abilities(&self) -> Abilities {
        Abilities { multi_process: true, transactions: true, holds_connections: true }
    }

    fn limits(&self) -> Limits {
        self.connections.limits()
    }

    async fn migrate(&self) -> Stored<()> {
        Ok(migrate::migrate(&self.connections).await?)
    }

    async fn begin(&self, access: Access) -> Stored<MySqlSession<PooledConnection>> {
        let held = match access {
            Access::Read => self.connections.read().await?,
            Access::Write => self.connections.begin().await?,
            Access::Step => self.connections.begin_step().await?,
        };
        let within = self.connections.answer_within();
        Ok(MySqlSession::begin(held, &self.known, access == Access::Write, within).await?)
    }

    async fn commit(&self, session: MySqlSession<PooledConnection>) -> Stored<()> {
        Ok(session.into_connection().commit(self.connections.answer_within()).await?)
    }

    fn pause_before_retry(&self, error: &BackendError, tries: u32) -> Option<Duration> {
        let BackendError::Unavailable(source) = error else { return None };
        let Some(MySqlError::Busy(said)) = source.downcast_ref() else { return None };
        let most = if has_waited(said.sqlx()) { TRIES_LOCKED } else { TRIES };
        if tries >= most || !is_passing(said.sqlx()) {
            return None;
        }
        metrics::counter!("pgflow_mysql_reruns_total").increment(1);
        // Each a little later, and not all at the same time.
        let spread = self.claims.fetch_add(1, Ordering::Relaxed) % 7;
        Some(Duration::from_millis(u64::from(tries * 2 + spread)))
    }

    fn nth_claim(&self) -> u32 {
        self.claims.fetch_add(1, Ordering::Relaxed)
    }

    fn cursors(&self) -> &Cursors {
        &self.cursors
    }

    fn starts(&self) -> Option<&Starts> {
        Some(&self.starts)
    }

    async fn lend(&self, session: MySqlSession<PooledConnection>) -> Stored<StepTx> {
        Ok(step::lend(session.into_connection(), self.connections.answer_within()).await?)
    }

    async fn take_back(&self, tx: StepTx) -> Stored<MySqlSession<PooledConnection>> {
        Ok(step::take_back(self, tx).await?)
    }

    async fn commit_step(&self, session: MySqlSession<PooledConnection>) -> Stored<()> {
        Ok(session.into_connection().commit_step(self.connections.answer_within()).await?)
    }

    async fn undo(&self, session: MySqlSession<PooledConnection>) -> Stored<()> {
        Ok(session.into_connection().rollback(self.connections.answer_within()).await?)
    }

    async fn beat(&self) {
        // Nothing depends on it.
        let _ = timeout(self.connections.answer_within(), upkeep::beat(self)).await;
    }

    fn sign_off(&self, worker: WorkerId) -> impl Future<Output = Stored<()>> + Send {
        // A worker has a runtime of its own, which ends with it, also if nobody waits for this.
        let leaving = self.signed.forget(worker).then(|| self.connections.leaving());
        async move {
            if leaving.is_some() {
                let end = upkeep::note_end(self, worker);
                let _ = timeout(self.connections.answer_within(), end).await;
            }
            Ok(())
        }
    }

    fn wake(&self, wake: Wake) {
        self.hints.ring(wake);
    }

    fn wakes(&self) -> Wakes {
        self.hints.listen()
    }

    async fn close(&self) -> Stored<()> {
        self.hints.close();
        self.connections.close().await;
        Ok(())
    }
}
