//! The database's time.

use sqlx::SqliteConnection;

use super::error::Result;

/// Microseconds since 1970; SQLite knows milliseconds.
pub(super) async fn now(connection: &mut SqliteConnection) -> Result<i64> {
    let now = "select cast(round(unixepoch('subsec') * 1e3) as integer) * 1000";
    Ok(sqlx::query_scalar(now).fetch_one(connection).await?)
}

/// Microseconds of a number of seconds.
pub(super) fn seconds(seconds: u32) -> i64 {
    i64::from(seconds) * 1_000_000
}
