//! Ending runs early, and letting failed ones go on.

use std::sync::Arc;

use pgflow_machine::{RunId, RunStatus, Turn};
use sqlx::SqliteConnection;

use super::Sqlite;
use super::definitions::Session;
use super::error::{Result, broken};
use super::inputs::parse;
use super::load::{self, Run};
use super::write::Writes;
use crate::backend::{Cancelled, Retried};

pub(super) async fn cancel(sqlite: &Sqlite, id: RunId, reason: Option<&str>) -> Result<Cancelled> {
    let mut tx = sqlite.connections.begin().await?;
    let session = sqlite.memory.session(&mut tx).await?;
    let Some(mut run) = load::runs(&mut tx, &session, [id]).await?.remove(&id) else {
        return Ok(Cancelled::Unknown);
    };
    let version = Arc::clone(&run.version);
    let mut turn = Turn::new(&version.plan, &mut run.state);
    if !turn.cancel(reason) {
        return Ok(Cancelled::Ended(run.state.status));
    }
    let change = turn.end();
    write(&mut tx, &session, &mut run, change).await?;
    let query = sqlx::query("update pgflow_runs set cancel_reason = ? where id = ?");
    query.bind(reason).bind(run.id).execute(&mut *tx).await?;
    tx.commit().await?;
    sqlite.hints.flow(version.slug());
    Ok(Cancelled::Cancelled)
}

pub(super) async fn retry(sqlite: &Sqlite, id: RunId) -> Result<Retried> {
    let mut tx = sqlite.connections.begin().await?;
    let session = sqlite.memory.session(&mut tx).await?;
    let Some(mut run) = load::runs(&mut tx, &session, [id]).await?.remove(&id) else {
        return Ok(Retried::Unknown);
    };
    if run.state.status != RunStatus::Failed {
        return Ok(Retried::NotFailed(run.state.status));
    }
    let version = Arc::clone(&run.version);
    if run.state.wants_input(&version.plan) {
        let query = sqlx::query_scalar("select input from pgflow_run_data where run = ?");
        let text: String = query.bind(run.id).fetch_one(&mut *tx).await?;
        run.state.input = Some(Arc::new(parse(&text)?));
    }
    run.load_wanted(&mut tx, &[]).await?;
    let mut turn = Turn::new(&version.plan, &mut run.state);
    turn.retry().map_err(broken)?;
    let change = turn.end();
    write(&mut tx, &session, &mut run, change).await?;
    tx.commit().await?;
    sqlite.hints.flow(version.slug());
    Ok(Retried::Retried)
}

async fn write(
    connection: &mut SqliteConnection,
    session: &Session,
    run: &mut Run,
    change: pgflow_machine::Change,
) -> Result<()> {
    let mut writes = Writes::default();
    writes.add(run, change);
    writes.flush(connection, session, std::iter::once(run)).await
}
