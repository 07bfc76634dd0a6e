//! Sessions that a pooler gives to others between our transactions.
//!
//! sqlx gives a statement a name even where it is told to remember none. Such names stay in the session, and
//! the next client of the pooler who uses sqlx has the same ones. Our own statements have no names; those of
//! steps and of libraries do, so sessions are cleared before them and after.

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};

/// Begins a transaction that knows no statement of anybody else.
pub(super) const BEGIN: &str = "begin; deallocate all";

/// Leaves no statement to whoever comes next.
pub(super) async fn forget(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("deallocate all").execute(connection).await.map(drop)
}

/// For libraries, whose transactions are out of our reach: a pooler likes to give back the session that was
/// cleared just before.
pub(super) fn pool(max: u32, options: PgConnectOptions) -> PgPool {
    PgPoolOptions::new()
        .max_connections(max)
        .after_connect(|connection, _| Box::pin(forget(connection)))
        .after_release(|connection, _| Box::pin(async { forget(connection).await.map(|()| true) }))
        .connect_lazy_with(options)
}
