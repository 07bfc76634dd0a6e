//! Whether a session is ours, or a pooler's that others use between our transactions.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, Row};
use tokio::time::timeout;

use super::connections::connect;

/// How long a pooler may have us wait for a session before that alone gives it away.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether what one transaction says to the session is still known in the next.
pub(super) async fn keeps_session(options: &PgConnectOptions) -> Result<bool, sqlx::Error> {
    let mut ours = connect(options).await?;
    sqlx::raw_sql("listen pgflow_probe").execute(&mut ours).await?;
    // A pooler that has just got a session back likes to give it to whoever comes next: that is
    // to be somebody else.
    let mut other = connect(options).await?;
    sqlx::raw_sql("begin; select 1").execute(&mut other).await?;
    let listens = timeout(PATIENCE, listens(&mut ours)).await;
    sqlx::raw_sql("rollback").execute(&mut other).await?;
    let kept = listens.unwrap_or(Ok(false))?;
    if kept {
        // A courtesy; the server copes with less.
        let _ = (ours.close().await, other.close().await);
    }
    Ok(kept)
}

async fn listens(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let query = "select count(*) from pg_listening_channels() c where c = 'pgflow_probe'";
    let row = sqlx::raw_sql(query).fetch_one(connection).await?;
    Ok(row.try_get::<i64, _>(0)? > 0)
}
