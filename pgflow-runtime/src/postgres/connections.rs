//! The engine's own connections.
//!
//! A pool of sqlx's asks the server once more whenever a connection comes back; here one comes back only
//! after a call that ended well, and is asked only when it lay idle. What a call left behind that was
//! cut short, by a timeout or because nobody waits for it any more, is closed.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{Semaphore, SemaphorePermit};
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
    turns: Semaphore,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    connection: PgConnection,
    since: Instant,
}

/// A connection in use. Closed when dropped, unless it is given back.
pub(super) struct Lent<'a> {
    pub(super) connection: PgConnection,
    from: &'a Connections,
    _turn: SemaphorePermit<'a>,
}

impl Connections {
    /// Connects when needed.
    pub(super) fn new(options: PgConnectOptions, max: usize) -> Self {
        Self { options, turns: Semaphore::new(max), idle: Mutex::default() }
    }

    /// One of them, in the order of asking.
    pub(super) async fn lend(&self) -> Result<Lent<'_>, sqlx::Error> {
        let turn = timeout(CONNECT, self.turns.acquire())
            .await
            .map_err(|_| sqlx::Error::PoolTimedOut)?
            .map_err(|_| sqlx::Error::PoolClosed)?;
        let connection = match self.take_idle().await {
            Some(connection) => connection,
            None => connect(&self.options).await?,
        };
        Ok(Lent { connection, from: self, _turn: turn })
    }

    async fn take_idle(&self) -> Option<PgConnection> {
        loop {
            let Idle { mut connection, since } = self.lock().pop()?;
            if since.elapsed() < FRESH
                || matches!(timeout(PING, connection.ping()).await, Ok(Ok(())))
            {
                return Some(connection);
            }
        }
    }

    /// Says goodbye on every connection that is not in use; the others close as they come back.
    pub(super) async fn close(&self) {
        self.turns.close();
        let idle = std::mem::take(&mut *self.lock());
        for Idle { connection, .. } in idle {
            // The server notices anyway.
            let _ = timeout(PING, connection.close()).await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent<'_> {
    /// After a call that ended well.
    pub(super) fn give_back(self) {
        if !self.from.turns.is_closed() {
            let idle = Idle { connection: self.connection, since: Instant::now() };
            self.from.lock().push(idle);
        }
    }
}

/// A connection, in bounded time.
pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    timeout(CONNECT, options.connect())
        .await
        .unwrap_or_else(|_| Err(timed_out("connecting", CONNECT)))
}
