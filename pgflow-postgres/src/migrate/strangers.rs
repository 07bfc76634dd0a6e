//! Schemas and objects of other roles, which could use them to act with the installer's rights.

use sqlx::PgConnection;

use super::bookkeeping::STRANGERS;
use super::error::{Doing, MigrateError};

/// Refuses to install into what belongs to somebody else.
pub(super) async fn refuse(connection: &mut PgConnection) -> Result<(), MigrateError> {
    let found: Option<(String, String)> = sqlx::query_as(STRANGERS)
        .persistent(false)
        .fetch_optional(connection)
        .await
        .doing("look for schemas of other roles")?;
    match found {
        Some((what, way_out)) => Err(MigrateError::Stranger { what, way_out }),
        None => Ok(()),
    }
}
