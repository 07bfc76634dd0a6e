//! How the engine talks to the database: one statement per call, in bounded time.

use std::time::Duration;

use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgRow};
use sqlx::{Connection, Postgres};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{sleep, timeout};

use super::connections::Connections;
use super::error::{is_passing, keeps_connection, timed_out};
use super::jitter::jitter;

/// How often a call is made that loses against other transactions.
const TRIES: u32 = 5;

/// A statement with its parameters.
pub(super) type Statement<'q> = sqlx::query::Query<'q, Postgres, PgArguments>;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// A worker: its tasks must not wait for anything else.
    Worker,
    /// The application, which leaves a connection to the worker, however much it asks at once.
    Client,
}

/// The engine's connections and how they are used.
pub(super) struct Engine {
    connections: Connections,
    clients: Semaphore,
    /// Whether a pooler gives each transaction to another session.
    is_pooled: bool,
    /// How long the server may take to answer: longer means that nobody is there.
    answer_within: Duration,
}

impl Engine {
    pub(super) fn new(
        options: &PgConnectOptions,
        max: usize,
        is_pooled: bool,
        answer_within: Duration,
    ) -> Self {
        let connections = Connections::new(options.clone(), max.max(1));
        let clients = Semaphore::new(max.saturating_sub(1).max(1));
        Self { connections, clients, is_pooled, answer_within }
    }

    /// Runs a statement and commits. Repeats it when it lost against another transaction.
    pub(super) async fn ask<'q>(
        &self,
        lane: Lane,
        statement: impl Fn() -> Statement<'q> + Send,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let _turn = match lane {
            Lane::Worker => None,
            Lane::Client => Some(self.turn().await?),
        };
        let mut tries = 1;
        loop {
            match self.ask_once(statement()).await {
                Err(error) if tries < TRIES && is_passing(&error) => {
                    tracing::debug!(%error, tries, "repeating a call");
                    sleep(jitter(Duration::from_millis(10) * tries)).await;
                    tries += 1;
                }
                answer => return answer,
            }
        }
    }

    /// A client's, in the order of asking.
    async fn turn(&self) -> Result<SemaphorePermit<'_>, sqlx::Error> {
        let turn = timeout(self.answer_within, self.clients.acquire()).await;
        turn.map_err(|_| sqlx::Error::PoolTimedOut)?.map_err(|_| sqlx::Error::PoolClosed)
    }

    async fn ask_once(&self, statement: Statement<'_>) -> Result<Vec<PgRow>, sqlx::Error> {
        let mut lent = self.connections.lend().await?;
        let answer = self.in_time("a call", self.fetch(statement, &mut lent.connection)).await;
        // An error inside an explicit transaction would have to be rolled back first.
        if answer.as_ref().err().is_none_or(|error| !self.is_pooled && keeps_connection(error)) {
            lent.give_back();
        }
        answer
    }

    /// What is being done, in bounded time.
    pub(super) async fn in_time<T>(
        &self,
        doing: &str,
        work: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        let late = |_| Err(timed_out(doing, self.answer_within));
        timeout(self.answer_within, work).await.unwrap_or_else(late)
    }

    async fn fetch(
        &self,
        statement: Statement<'_>,
        connection: &mut PgConnection,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        if !self.is_pooled {
            return statement.fetch_all(connection).await;
        }
        // Preparing and executing are two exchanges: only a transaction keeps them in one session.
        let mut transaction = connection.begin().await?;
        let rows = statement.persistent(false).fetch_all(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(rows)
    }

    /// Whether a pooler gives each transaction to another session.
    pub(super) fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    pub(super) async fn close(&self) {
        self.clients.close();
        self.connections.close().await;
    }
}
