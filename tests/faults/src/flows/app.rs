//! What handlers share with the program around them.

use std::path::PathBuf;

use pgflow::{Result, Tx};
use sqlx::{MySqlPool, PgPool, SqlitePool};

use crate::harness::{Journal, Outcome};

/// The application of an experiment.
#[derive(Clone)]
pub(crate) struct App {
    /// Where gates are.
    pub(crate) dir: PathBuf,
    pub(crate) journal: Journal,
    pub(crate) pool: Pool,
}

/// The application's own connections.
#[derive(Clone)]
pub(crate) enum Pool {
    Postgres(PgPool),
    Sqlite(SqlitePool),
    MySql(MySqlPool),
}

const EFFECT: &str = "insert into effects (item, attempt) values ($1, $2)";
/// As MySQL writes it.
const EFFECT_MYSQL: &str = "insert into effects (item, attempt) values (?, ?)";

impl App {
    pub(crate) fn is_open(&self, gate: &str) -> bool {
        self.dir.join(gate).exists()
    }

    /// An effect that is there at once.
    pub(crate) async fn write(&self, item: u32, attempt: u32) -> Outcome {
        let (item, attempt) = (i64::from(item), i64::from(attempt));
        match &self.pool {
            Pool::Postgres(pool) => {
                sqlx::query(EFFECT).bind(item).bind(attempt).execute(pool).await?;
            }
            Pool::Sqlite(pool) => {
                sqlx::query(EFFECT).bind(item).bind(attempt).execute(pool).await?;
            }
            Pool::MySql(pool) => {
                sqlx::query(EFFECT_MYSQL).bind(item).bind(attempt).execute(pool).await?;
            }
        }
        Ok(())
    }
}

/// The same, with a row that takes so much room.
pub(crate) async fn write_large_in(tx: &mut Tx, item: u32, attempt: u32, text: &str) -> Result<()> {
    const LARGE: &str = "insert into large (text) values ($1)";
    if let Some(connection) = tx.postgres() {
        sqlx::query(LARGE).bind(text).execute(connection).await?;
    } else if let Some(connection) = tx.sqlite() {
        sqlx::query(LARGE).bind(text).execute(connection).await?;
    } else if let Some(connection) = tx.mysql() {
        sqlx::query("insert into large (text) values (?)").bind(text).execute(connection).await?;
    }
    Ok(write_in(tx, item, attempt).await?)
}

/// An effect that is there when the step is recorded.
pub(crate) async fn write_in(tx: &mut Tx, item: u32, attempt: u32) -> Outcome {
    let (item, attempt) = (i64::from(item), i64::from(attempt));
    if let Some(connection) = tx.postgres() {
        sqlx::query(EFFECT).bind(item).bind(attempt).execute(connection).await?;
    } else if let Some(connection) = tx.sqlite() {
        sqlx::query(EFFECT).bind(item).bind(attempt).execute(connection).await?;
    } else if let Some(connection) = tx.mysql() {
        sqlx::query(EFFECT_MYSQL).bind(item).bind(attempt).execute(connection).await?;
    }
    Ok(())
}
