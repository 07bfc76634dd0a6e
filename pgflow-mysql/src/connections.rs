//! Connections to the server, each in a session that was set up and looked at.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pgflow_machine::Limits;
use sqlx::mysql::{MySqlPool, MySqlPoolOptions};
use sqlx::pool::PoolConnection;
use sqlx::{ConnectOptions as _, Connection as _, MySql, MySqlConnection, Transaction};
use tokio::runtime::{Handle, Id};
use tokio::time::timeout;

use crate::error::{Error, Result, not_committed, timed_out};
use crate::settings::Settings;
use crate::{MySqlOptions, session_settings};

/// A connection that was not used for so long is asked whether it is still there: servers close idle ones.
const IDLE: Duration = Duration::from_secs(10);

/// Connections to one database.
///
/// A connection belongs to the runtime that it was made on, and ends with it. A worker has a runtime of its own, and so have the
/// calls of clients, so each has pools of its own.
#[derive(Debug)]
pub(crate) struct Connections {
    options: MySqlOptions,
    /// By runtime; nothing once they are closed.
    pools: Mutex<Option<HashMap<Id, Pools>>>,
    settings: Settings,
}

/// For the engine, and apart from them for steps that run in a transaction of their own, which may keep theirs for long.
#[derive(Clone, Debug)]
struct Pools {
    engine: MySqlPool,
    steps: MySqlPool,
}

impl Pools {
    fn new(options: &MySqlOptions) -> Self {
        Self {
            engine: engine_pool(options).connect_lazy_with(options.connect.clone()),
            steps: steps_pool(options).connect_lazy_with(options.connect.clone()),
        }
    }
}

impl Connections {
    pub(crate) async fn open(options: &MySqlOptions) -> Result<Self> {
        let mut first = connect(options).await?;
        let settings = Settings::read(&mut first, options.durability).await?;
        first.close().await?;
        let pools = Mutex::new(Some(HashMap::new()));
        Ok(Self { options: options.clone(), pools, settings })
    }

    fn all(&self) -> MutexGuard<'_, Option<HashMap<Id, Pools>>> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those of this runtime.
    fn pools(&self) -> Result<Pools> {
        let mut all = self.all();
        let all = all.as_mut().ok_or(sqlx::Error::PoolClosed)?;
        let pools = all.entry(Handle::current().id());
        Ok(pools.or_insert_with(|| Pools::new(&self.options)).clone())
    }

    /// The database's name.
    pub(crate) fn database(&self) -> &str {
        self.options.connect.get_database().unwrap_or_default()
    }

    /// Sets a step's session as it was when the step got it.
    pub(crate) async fn reset(&self, connection: &mut MySqlConnection) -> Result<()> {
        session_settings::set_inside(connection, self.options.lock_wait).await
    }

    /// How long the server may take to answer.
    pub(crate) fn answer_within(&self) -> Duration {
        self.options.answer_within
    }

    /// What payloads go through.
    pub(crate) fn limits(&self) -> Limits {
        self.settings.limits()
    }

    /// A connection of one's own.
    pub(crate) async fn connect(&self) -> Result<MySqlConnection> {
        if self.all().is_none() {
            return Err(sqlx::Error::PoolClosed.into());
        }
        connect(&self.options).await
    }

    /// A connection to read on: each statement sees what was committed before it.
    pub(crate) async fn read(&self) -> Result<PooledConnection> {
        Ok(PooledConnection::Plain(self.pools()?.engine.acquire().await?))
    }

    /// A transaction of the engine's.
    pub(crate) async fn begin(&self) -> Result<PooledConnection> {
        let pool = self.pools()?.engine;
        let begun = in_time("beginning a transaction", self.options.answer_within, pool.begin());
        Ok(PooledConnection::Transaction(begun.await?))
    }

    /// A transaction that a step runs in.
    pub(crate) async fn begin_step(&self) -> Result<PooledConnection> {
        let pool = self.pools()?.steps;
        // The connection of another step may be waited for first.
        let limit = self.options.answer_within * 2;
        let begun = in_time("beginning a step's transaction", limit, pool.begin());
        Ok(PooledConnection::Transaction(begun.await?))
    }

    /// When this is dropped, the pools of this runtime go, because it is about to end.
    pub(crate) fn leaving(&self) -> Leaving<'_> {
        Leaving(self)
    }

    pub(crate) async fn close(&self) {
        let all = self.all().take().unwrap_or_default();
        for pools in all.into_values() {
            pools.engine.close().await;
            pools.steps.close().await;
        }
    }
}

/// A drop guard: the runtime that this is dropped on has no pools any more.
#[derive(Debug)]
pub(crate) struct Leaving<'a>(&'a Connections);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let here = Handle::try_current().ok();
        let pools = self.0.all().as_mut().zip(here).and_then(|(all, here)| all.remove(&here.id()));
        drop(pools);
    }
}

/// A connection of a pool, perhaps with a transaction on it, which is undone when it is dropped.
#[derive(Debug)]
pub enum PooledConnection {
    Plain(PoolConnection<MySql>),
    Transaction(Transaction<'static, MySql>),
}

impl PooledConnection {
    pub(crate) async fn commit(self, within: Duration) -> Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Transaction(transaction) => {
                in_time("a commit", within, transaction.commit()).await
            }
        }
    }

    /// Commits what a step did.
    pub(crate) async fn commit_step(self, within: Duration) -> Result<()> {
        match self.commit(within).await {
            Err(Error::Sqlx(error)) => Err(not_committed(error)),
            done => done,
        }
    }

    pub(crate) async fn rollback(self, within: Duration) -> Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Transaction(transaction) => {
                in_time("a rollback", within, transaction.rollback()).await
            }
        }
    }
}

impl Deref for PooledConnection {
    type Target = MySqlConnection;

    fn deref(&self) -> &MySqlConnection {
        match self {
            Self::Plain(connection) => connection,
            Self::Transaction(transaction) => transaction,
        }
    }
}

impl DerefMut for PooledConnection {
    fn deref_mut(&mut self) -> &mut MySqlConnection {
        match self {
            Self::Plain(connection) => connection,
            Self::Transaction(transaction) => transaction,
        }
    }
}

pub(crate) async fn connect(options: &MySqlOptions) -> Result<MySqlConnection> {
    let connecting = async {
        let mut connection = options.connect.connect().await?;
        session_settings::set_up(&mut connection, options.lock_wait).await?;
        Ok(connection)
    };
    let late = |_| Err(timed_out("connecting", options.answer_within).into());
    timeout(options.answer_within, connecting).await.unwrap_or_else(late)
}

/// No answer in time is an error, after which nobody knows what happened.
pub(crate) async fn in_time<T>(
    doing: &str,
    limit: Duration,
    work: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T> {
    Ok(timeout(limit, work).await.unwrap_or_else(|_| Err(timed_out(doing, limit)))?)
}

fn engine_pool(options: &MySqlOptions) -> MySqlPoolOptions {
    let lock_wait = options.lock_wait;
    let pool = pool(options.connections, options).after_connect(move |connection, _| {
        Box::pin(async move {
            let version = session_settings::set_up(connection, lock_wait).await;
            let version = version.map_err(as_sqlx)?;
            session_settings::limit_idle(connection, version).await.map_err(as_sqlx)
        })
    });
    pool.before_acquire(|connection, meta| {
        Box::pin(async move {
            if meta.idle_for > IDLE {
                connection.ping().await?;
            }
            Ok(true)
        })
    })
}

/// The step that had a connection before may have changed its session.
fn steps_pool(options: &MySqlOptions) -> MySqlPoolOptions {
    let lock_wait = options.lock_wait;
    let pool = pool(options.tx_connections, options).after_connect(move |connection, _| {
        Box::pin(async move {
            session_settings::set_up(connection, lock_wait).await.map(drop).map_err(as_sqlx)
        })
    });
    pool.before_acquire(move |connection, _| {
        Box::pin(async move {
            session_settings::set(connection, lock_wait).await.map_err(as_sqlx)?;
            Ok(true)
        })
    })
}

fn pool(connections: u32, options: &MySqlOptions) -> MySqlPoolOptions {
    MySqlPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(options.answer_within)
        .max_lifetime(None)
        .test_before_acquire(false)
}

/// A pool passes on what sqlx says, or what is put into it.
fn as_sqlx(error: Error) -> sqlx::Error {
    match error {
        Error::Sqlx(error) => error,
        Error::Backend(error) => sqlx::Error::Configuration(error.into()),
    }
}
