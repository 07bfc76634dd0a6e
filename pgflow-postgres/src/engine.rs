//! How the engine talks to the database: one statement per call, in bounded time.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection, Postgres};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::allowance::Allowance;
use super::connections::{Connections, Lent};
use super::error::{code, is_passing, is_timeout, keeps_connection, timed_out};
use pgflow_backend::backoff::jittered;

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
    connections: Arc<Connections>,
    clients: Arc<Semaphore>,
    /// Somebody got no answer.
    silence: Notify,
    /// Whether a pooler gives each transaction to another session.
    is_pooled: bool,
    /// How long the server may take to answer. That it says nothing for a while longer means that nobody is there.
    allowance: Allowance,
}

impl Engine {
    pub(super) fn new(
        options: &PgConnectOptions,
        max: usize,
        is_pooled: bool,
        answer_within: Duration,
    ) -> Self {
        // The server ends what we give up: a statement that nobody waits for must not go on.
        let limit = format!("set statement_timeout = {}", milliseconds(answer_within));
        let connections =
            Connections::new(options.clone(), max.max(1), (!is_pooled).then_some(limit));
        let connections = Arc::new(connections);
        let clients = Arc::new(Semaphore::new(max.saturating_sub(1).max(1)));
        let allowance = Allowance::new(answer_within);
        Self { connections, clients, silence: Notify::new(), is_pooled, allowance }
    }

    /// Runs a statement and commits. Repeats it when it lost against another transaction.
    pub(super) async fn ask<'q>(
        &self,
        lane: Lane,
        statement: impl Fn() -> Statement<'q> + Send + Sync,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let rows = self.ask_if_wanted(lane, move || Some(statement())).await?;
        Ok(rows.unwrap_or_default())
    }

    /// As [`ask`](Self::ask), unless there is no statement by the time that it could be sent.
    pub(super) async fn ask_if_wanted<'q>(
        &self,
        lane: Lane,
        statement: impl Fn() -> Option<Statement<'q>> + Send + Sync,
    ) -> Result<Option<Vec<PgRow>>, sqlx::Error> {
        let _turn = self.turn_of(lane).await?;
        let mut tries = 1;
        loop {
            match self.ask_once(&statement).await {
                Err(error) if tries < TRIES && is_passing(&error) => {
                    tracing::debug!(%error, tries, "repeating a call");
                    sleep(jittered(Duration::from_millis(10) * tries)).await;
                    tries += 1;
                }
                Err(error) if is_timeout(&error) => {
                    self.silence.notify_waiters();
                    return Err(error);
                }
                answer => return answer,
            }
        }
    }

    /// Begins a transaction of several statements. It must not idle: others may wait for what it has.
    pub(super) async fn begin(&self, lane: Lane) -> Result<Open, sqlx::Error> {
        let turn = self.turn_of(lane).await?;
        let mut lent = self.connections.lend().await?;
        let limit = milliseconds(self.allowance.now());
        let begin = format!(
            "begin isolation level read committed; set local idle_in_transaction_session_timeout = {limit}; \
             set local statement_timeout = {limit}"
        );
        let begin = sqlx::raw_sql(AssertSqlSafe(begin));
        self.in_time("a begin", begin.execute(&mut lent.connection)).await?;
        Ok(Open { lent, _turn: turn })
    }

    async fn turn_of(&self, lane: Lane) -> Result<Option<OwnedSemaphorePermit>, sqlx::Error> {
        match lane {
            Lane::Worker => Ok(None),
            Lane::Client => self.turn().await.map(Some),
        }
    }

    /// A client's, in the order of asking. When nobody answers, those who wait are told at once: one after the
    /// other they would wait for the same silence.
    async fn turn(&self) -> Result<OwnedSemaphorePermit, sqlx::Error> {
        tokio::select! {
            biased;
            () = self.silence.notified() => Err(timed_out("another call", self.allowance.usual())),
            turn = Arc::clone(&self.clients).acquire_owned() => turn.map_err(|_| sqlx::Error::PoolClosed),
        }
    }

    async fn ask_once<'q>(
        &self,
        statement: &(impl Fn() -> Option<Statement<'q>> + Sync),
    ) -> Result<Option<Vec<PgRow>>, sqlx::Error> {
        let mut lent = self.connections.lend().await?;
        let Some(statement) = statement() else {
            lent.give_back();
            return Ok(None);
        };
        let limit = self.allowance.now();
        let is_wrapped = self.is_pooled || limit > self.allowance.usual();
        let fetch = fetch(statement, &mut lent.connection, is_wrapped.then_some(limit));
        let answer = within(limit, "a call", fetch).await;
        if answer.as_ref().err().and_then(code).as_deref() == Some("57014") {
            self.allowance.exceeded(limit);
        }
        // An error inside an explicit transaction would have to be rolled back first.
        if answer.as_ref().err().is_none_or(|error| !is_wrapped && keeps_connection(error)) {
            lent.give_back();
        }
        answer.map(Some)
    }

    /// What is being done, in bounded time.
    pub(super) async fn in_time<T>(
        &self,
        doing: &str,
        work: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        within(self.allowance.now(), doing, work).await
    }

    /// Whether a pooler gives each transaction to another session.
    pub(super) fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    /// The runtime that this is dropped on is about to end.
    pub(super) fn leaving(&self) -> Leaving<'_> {
        Leaving(&self.connections)
    }

    pub(super) async fn close(&self) {
        self.clients.close();
        self.connections.close().await;
    }
}

/// A transaction. When it is dropped its connection is closed, which undoes it.
pub(super) struct Open {
    lent: Lent,
    _turn: Option<OwnedSemaphorePermit>,
}

impl Open {
    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.lent.connection
    }

    pub(super) async fn commit(self, engine: &Engine) -> Result<(), sqlx::Error> {
        self.end(engine, "a commit", "commit").await
    }

    pub(super) async fn undo(self, engine: &Engine) -> Result<(), sqlx::Error> {
        self.end(engine, "undoing", "rollback").await
    }

    async fn end(
        mut self,
        engine: &Engine,
        doing: &'static str,
        sql: &'static str,
    ) -> Result<(), sqlx::Error> {
        let end = sqlx::raw_sql(sql).execute(&mut self.lent.connection);
        engine.in_time(doing, end).await?;
        self.lent.give_back();
        Ok(())
    }
}

/// Drops the connections of the runtime that it is dropped on.
pub(super) struct Leaving<'a>(&'a Connections);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leave_runtime();
    }
}

/// Does something for no longer than the server may take, and a quarter of that, so that it is the server who says so.
async fn within<T>(
    limit: Duration,
    doing: &str,
    work: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    timeout(limit + limit / 4, work).await.unwrap_or_else(|_| Err(timed_out(doing, limit)))
}

/// Runs a statement; in a transaction of its own, if it has another limit than its session.
async fn fetch(
    statement: Statement<'_>,
    connection: &mut PgConnection,
    limit: Option<Duration>,
) -> Result<Vec<PgRow>, sqlx::Error> {
    let Some(limit) = limit else { return statement.fetch_all(connection).await };
    // Preparing and executing are two exchanges: only a transaction keeps them in one session of a pooler.
    let begin = format!("begin; set local statement_timeout = {}", milliseconds(limit));
    let mut transaction = connection.begin_with(AssertSqlSafe(begin)).await?;
    let rows = statement.persistent(false).fetch_all(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(rows)
}

/// As the server takes it: not 0, which would mean for ever.
fn milliseconds(limit: Duration) -> i32 {
    i32::try_from(limit.as_millis().max(1)).unwrap_or(i32::MAX)
}
