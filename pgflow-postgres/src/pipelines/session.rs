//! Transactions about messages.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use pgflow_machine::Timestamp;
use pgflow_machine::job::JobId;
use sqlx::Row;
use sqlx::postgres::{PgConnection, PgRow};

use crate::engine::{Engine, Lane, Open, Statement};
use crate::error::{not_recorded, translate};
use pgflow_backend::backend::BackendError;
use pgflow_backend::store::Stored;

/// The database's time, as a column of a statement: after what it did.
macro_rules! now_at {
    () => {
        "(extract(epoch from clock_timestamp()) * 1000000)::int8 as now_at"
    };
}
pub(super) use now_at;

/// What a session speaks to the database through.
pub trait Speaks: Send {
    /// Whether rows can be locked here.
    fn locks(&self) -> bool;

    fn ask<'s, 'q: 's>(&'s mut self, statement: &'s Makes<'q>) -> Answer<'s>;

    /// What an error of a statement means here.
    fn meaning(&self, error: sqlx::Error) -> BackendError {
        translate(error)
    }
}

/// Makes a statement, as often as it takes.
pub(super) type Makes<'q> = dyn Fn() -> Statement<'q> + Send + Sync + 'q;

pub(super) type Answer<'s> =
    Pin<Box<dyn Future<Output = Result<Vec<PgRow>, sqlx::Error>> + Send + 's>>;

/// The engine's connections.
pub struct Connected(Ways);

enum Ways {
    /// Each statement is a transaction.
    Each(Arc<Engine>),
    /// All are one.
    Together(Arc<Engine>, Open),
}

impl Speaks for Connected {
    fn locks(&self) -> bool {
        matches!(self.0, Ways::Together(..))
    }

    fn ask<'s, 'q: 's>(&'s mut self, statement: &'s Makes<'q>) -> Answer<'s> {
        Box::pin(async move {
            match &mut self.0 {
                Ways::Each(engine) => engine.ask(Lane::Worker, statement).await,
                Ways::Together(engine, open) => {
                    let statement = statement().persistent(!engine.is_pooled());
                    engine.in_time("a call", statement.fetch_all(open.connection())).await
                }
            }
        })
    }
}

/// A transaction in the hands of the application.
pub(super) struct Inside<'a> {
    connection: &'a mut PgConnection,
    meaning: fn(sqlx::Error) -> BackendError,
}

impl<'a> Inside<'a> {
    /// The application's own.
    pub(super) fn of_application(connection: &'a mut PgConnection) -> Self {
        Self { connection, meaning: translate }
    }

    /// That of an attempt: what its function did there may be why a statement fails.
    pub(super) fn of_attempt(connection: &'a mut PgConnection) -> Self {
        Self { connection, meaning: not_recorded }
    }
}

impl Speaks for Inside<'_> {
    fn locks(&self) -> bool {
        true
    }

    fn ask<'s, 'q: 's>(&'s mut self, statement: &'s Makes<'q>) -> Answer<'s> {
        Box::pin(statement().fetch_all(&mut *self.connection))
    }

    fn meaning(&self, error: sqlx::Error) -> BackendError {
        (self.meaning)(error)
    }
}

/// Messages and permits, in a transaction.
pub struct PostgresSession<C> {
    pub(super) connection: C,
    pub(super) now: Timestamp,
    /// Jobs that were leased here, by their places: holds name those, and jobs are found by their ids.
    pub(super) leased: HashMap<i64, JobId>,
}

impl<C: Speaks> PostgresSession<C> {
    pub(super) fn on(connection: C) -> Self {
        Self { connection, now: Timestamp::default(), leased: HashMap::new() }
    }

    pub(super) async fn ask<'q>(
        &mut self,
        statement: impl Fn() -> Statement<'q> + Send + Sync + 'q,
    ) -> Stored<Vec<PgRow>> {
        self.ask_raw(statement).await.map_err(|error| self.connection.meaning(error))
    }

    /// The same, with the error as the database says it.
    pub(super) async fn ask_raw<'q>(
        &mut self,
        statement: impl Fn() -> Statement<'q> + Send + Sync + 'q,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        self.connection.ask(&statement).await
    }

    /// The same for a statement that says what time it is.
    pub(super) async fn ask_in_time<'q>(
        &mut self,
        statement: impl Fn() -> Statement<'q> + Send + Sync + 'q,
    ) -> Stored<Vec<PgRow>> {
        let rows = self.ask(statement).await?;
        if let Some(row) = rows.first() {
            self.now = Timestamp::from_micros(row.try_get("now_at").map_err(translate)?);
        }
        Ok(rows)
    }
}

impl PostgresSession<Connected> {
    pub(super) fn reading(engine: Arc<Engine>) -> Self {
        Self::on(Connected(Ways::Each(engine)))
    }

    pub(super) fn writing(engine: Arc<Engine>, open: Open) -> Self {
        Self::on(Connected(Ways::Together(engine, open)))
    }

    pub(super) async fn commit(self) -> Stored<()> {
        match self.connection.0 {
            Ways::Each(_) => Ok(()),
            Ways::Together(engine, open) => open.commit(&engine).await.map_err(translate),
        }
    }

    pub(super) async fn undo(self) -> Stored<()> {
        match self.connection.0 {
            Ways::Each(_) => Ok(()),
            Ways::Together(engine, open) => open.undo(&engine).await.map_err(translate),
        }
    }
}
