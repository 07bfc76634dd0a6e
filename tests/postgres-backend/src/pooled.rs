//! Other clients of a pooler.

use pgflow_test_support::PgBouncer;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection};

/// For a client that is not ours: PgBouncer refuses a setting that sqlx sends if nobody stops it.
///
/// # Panics
/// When the URL is wrong.
pub fn without_settings(bouncer: &PgBouncer) -> PgConnectOptions {
    let options: PgConnectOptions = bouncer.url().parse().expect("our own URL is valid");
    options.extra_float_digits(None)
}

/// A client in a transaction.
///
/// # Panics
/// When the pooler is gone.
pub async fn begun(bouncer: &PgBouncer) -> PgConnection {
    let client = PgConnection::connect_with(&without_settings(bouncer)).await;
    let mut client = client.expect("cannot connect");
    sqlx::raw_sql("begin").execute(&mut client).await.expect("cannot begin");
    client
}

/// Statements as sqlx names them, in two sessions.
///
/// # Panics
/// When the pooler is gone.
pub async fn leave_statements(bouncer: &PgBouncer) {
    let mut clients = [begun(bouncer).await, begun(bouncer).await];
    for client in &mut clients {
        for number in 1..20 {
            let prepare = format!("prepare sqlx_s_{number} as select {number}");
            let prepared = sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut *client).await;
            prepared.expect("cannot prepare");
        }
    }
    for mut client in clients {
        sqlx::raw_sql("rollback").execute(&mut client).await.expect("cannot roll back");
        client.close().await.expect("cannot close");
    }
}
