//! The engine's own connections.
//!
//! A pool of sqlx's asks the server once more whenever a connection comes back; here one comes back only
//! after a call that ended well, and is asked only when it lay idle. What a call left behind that was
//! cut short, by a timeout or because nobody waits for it any more, is closed.
//!
//! A connection belongs to the runtime that it was made on: on another one it would wait for that runtime's threads, which handlers
//! may block, and it ends with it. So a worker, which has a runtime of its own, has connections of its own, and so have the calls of
//! clients.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tokio::runtime::{Handle, Id};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::error::timed_out;

/// How long a connection may take to be there, and a turn to come.
const CONNECT: Duration = Duration::from_secs(10);
/// What lay idle for longer is asked whether it is still there. An idle worker looks once a second, and must not
/// ask twice each time.
const FRESH: Duration = Duration::from_secs(3);
const PING: Duration = Duration::from_secs(3);

/// Up to a number of connections.
pub(super) struct Connections {
    options: PgConnectOptions,
    /// Said on each new connection.
    set_up: Option<String>,
    turns: Arc<Semaphore>,
    /// The one that was used last comes last.
    idle: Mutex<Vec<Idle>>,
    /// Of all runtimes together.
    most_idle: usize,
}

struct Idle {
    connection: PgConnection,
    since: Instant,
    runtime: Id,
}

/// A connection in use. Closed when dropped, unless it is given back.
pub(super) struct Lent {
    pub(super) connection: PgConnection,
    from: Arc<Connections>,
    _turn: OwnedSemaphorePermit,
}

impl Connections {
    /// Connects when needed, and then runs `set_up`.
    pub(super) fn new(options: PgConnectOptions, max: usize, set_up: Option<String>) -> Self {
        // One more, so that a client and a busy worker do not take turns in connecting.
        let most_idle = max + 1;
        let turns = Arc::new(Semaphore::new(max));
        Self { options, set_up, turns, idle: Mutex::default(), most_idle }
    }

    /// One of them, in the order of asking.
    pub(super) async fn lend(self: &Arc<Self>) -> Result<Lent, sqlx::Error> {
        let turn = timeout(CONNECT, Arc::clone(&self.turns).acquire_owned())
            .await
            .map_err(|_| sqlx::Error::PoolTimedOut)?
            .map_err(|_| sqlx::Error::PoolClosed)?;
        let connection = match self.take_idle().await {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        Ok(Lent { connection, from: Arc::clone(self), _turn: turn })
    }

    async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        let mut connection = connect(&self.options).await?;
        if let Some(set_up) = &self.set_up {
            let set_up = sqlx::raw_sql(AssertSqlSafe(set_up.clone()));
            timeout(CONNECT, set_up.execute(&mut connection))
                .await
                .unwrap_or_else(|_| Err(timed_out("connecting", CONNECT)))?;
        }
        Ok(connection)
    }

    async fn take_idle(&self) -> Option<PgConnection> {
        loop {
            let Idle { mut connection, since, .. } = self.pop(Handle::current().id())?;
            if since.elapsed() < FRESH
                || matches!(timeout(PING, connection.ping()).await, Ok(Ok(())))
            {
                return Some(connection);
            }
        }
    }

    fn pop(&self, runtime: Id) -> Option<Idle> {
        let mut idle = self.lock();
        let at = idle.iter().rposition(|idle| idle.runtime == runtime)?;
        Some(idle.remove(at))
    }

    /// The runtime that this is called on is about to end: what belongs to it is of no use any more.
    pub(super) fn leave_runtime(&self) {
        if let Ok(here) = Handle::try_current() {
            self.lock().retain(|idle| idle.runtime != here.id());
        }
    }

    /// Says goodbye on every connection that is not in use; the others close as they come back.
    pub(super) async fn close(&self) {
        self.turns.close();
        let idle = std::mem::take(&mut *self.lock());
        let here = Handle::current().id();
        for Idle { connection, .. } in idle.into_iter().filter(|idle| idle.runtime == here) {
            // The server notices anyway.
            let _ = timeout(PING, connection.close()).await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent {
    /// After a call that ended well.
    pub(super) fn give_back(self) {
        if !self.from.turns.is_closed() {
            let (connection, runtime) = (self.connection, Handle::current().id());
            let mut idle = self.from.lock();
            idle.push(Idle { connection, since: Instant::now(), runtime });
            if idle.len() > self.from.most_idle {
                idle.remove(0);
            }
        }
    }
}

/// A connection, in bounded time.
pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    timeout(CONNECT, options.connect())
        .await
        .unwrap_or_else(|_| Err(timed_out("connecting", CONNECT)))
}
