//! Whether a session is ours, or a pooler's that others use between our transactions.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, Row};
use tokio::time::timeout;

use super::connections::connect;

/// How long a pooler may have us wait for a session before that alone gives it away.
const PATIENCE: Duration = Duration::from_secs(5);

const WHERE: &str = "select pg_backend_pid()";
const WHERE_AND_STAY: &str = "begin; select pg_backend_pid()";

/// Whether one transaction after the other is in the same session. Asks where it is and leaves no trace, as
/// `listen` would in a session that is not ours.
pub(super) async fn keeps_session(options: &PgConnectOptions) -> Result<bool, sqlx::Error> {
    let mut ours = connect(options).await?;
    let mut other = connect(options).await?;
    let Ok(kept) = timeout(PATIENCE, keep_sessions(&mut ours, &mut other)).await else {
        return Ok(false);
    };
    // A courtesy; the server copes with less.
    let _ = (ours.close().await, other.close().await);
    kept
}

async fn keep_sessions(
    ours: &mut PgConnection,
    other: &mut PgConnection,
) -> Result<bool, sqlx::Error> {
    let first = ask(ours, WHERE).await?;
    // A pooler that has just got a session back likes to give it to whoever comes next: that is to be
    // somebody else, who keeps it.
    let second = ask(other, WHERE_AND_STAY).await?;
    let third = ask(ours, WHERE).await?;
    sqlx::raw_sql("rollback").execute(&mut *other).await?;
    // One that takes turns between two sessions has come round to the first by now.
    let fourth = ask(other, WHERE).await?;
    Ok(first != second && first == third && second == fourth)
}

async fn ask(connection: &mut PgConnection, question: &'static str) -> Result<i32, sqlx::Error> {
    sqlx::raw_sql(question).fetch_one(connection).await?.try_get(0)
}
