//! A caller that dies before it commits.

use std::process::ExitCode;

use pgflow::{Db, RunId};
use sqlx::Connection;

use super::Place;
use crate::flows::chain;
use crate::harness::Outcome;

/// The key of the run.
pub(crate) const KEY: &str = "never";
/// The file that says that the run was started.
pub(crate) const STARTED: &str = "started-in";

pub(super) async fn run(place: &Place) -> Outcome<ExitCode> {
    let db = Db::connect(&place.database).await?;
    let id = RunId::from_key("chain", KEY);
    if place.database.starts_with("sqlite:") {
        let mut connection = sqlx::SqliteConnection::connect(&place.database).await?;
        let mut tx = connection.begin_with("begin immediate").await?;
        db.start(chain::Flow, &1).id(id).within(&mut tx).await?;
        wait(place).await?;
        tx.rollback().await?;
    } else if place.database.starts_with("mysql:") {
        let mut connection = sqlx::MySqlConnection::connect(&place.database).await?;
        let mut tx = connection.begin().await?;
        db.start(chain::Flow, &1).id(id).within(&mut tx).await?;
        wait(place).await?;
        tx.rollback().await?;
    } else {
        let mut connection = sqlx::PgConnection::connect(&place.database).await?;
        let mut tx = connection.begin().await?;
        db.start(chain::Flow, &1).id(id).within(&mut tx).await?;
        wait(place).await?;
        tx.rollback().await?;
    }
    Ok(ExitCode::FAILURE)
}

/// Says that the run was started, and waits for the end.
async fn wait(place: &Place) -> Outcome {
    std::fs::write(place.dir.join(STARTED), "")?;
    std::future::pending().await
}
