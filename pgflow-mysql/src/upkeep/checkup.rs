//! How the server is doing.

use std::time::SystemTime;

use pgflow_machine::Timestamp;
use sqlx::MySqlConnection;

use crate::clock::now;
use crate::error::Result;
use crate::{MySql, migrate};
use pgflow_backend::backend::{BackendError, Checkup, SchemaState, Severity};

/// What is so, and how to ask for it.
const FACTS: &[(&str, &str)] = &[
    ("server", "select version()"),
    (
        "bytes",
        "select cast(coalesce(sum(data_length + index_length), 0) as char) from information_schema.tables
          where table_schema = database() and table_name like 'pgflow\\_%'",
    ),
    ("max_allowed_packet", "select cast(@@session.max_allowed_packet as char)"),
    (FLUSH, "select cast(@@global.innodb_flush_log_at_trx_commit as char)"),
];

/// Whether the server takes writes from everybody, and its time.
const STATE: &str =
    concat!("select cast(@@global.read_only or @@global.innodb_read_only as signed), ", now!());

const FLUSH: &str = "innodb_flush_log_at_trx_commit";

pub(super) async fn now(mysql: &MySql) -> Result<Timestamp> {
    mysql.reading().await.map(|session| session.now)
}

pub(super) async fn check(mysql: &MySql) -> Result<Vec<String>, BackendError> {
    MySql::check(mysql).await
}

pub(super) async fn checkup(mysql: &MySql) -> Result<Checkup> {
    let mut checkup = Checkup::of("mysql");
    let mut connection = mysql.connections.connect().await?;
    for (name, query) in FACTS {
        let value: String = sqlx::query_scalar(*query).fetch_one(&mut connection).await?;
        if *name == FLUSH && value != "1" {
            checkup.find(
                "not-durable",
                Severity::Warning,
                format!("`{FLUSH}` is {value}: a crash of the server may undo the last commits"),
                format!("set `{FLUSH} = 1`"),
            );
        }
        checkup.fact(name, value);
    }
    look_at_state(&mut connection, &mut checkup).await?;
    look_at_schema(&mut connection, &mut checkup).await?;
    Ok(checkup)
}

async fn look_at_state(connection: &mut MySqlConnection, checkup: &mut Checkup) -> Result<()> {
    let before = SystemTime::now();
    let (is_read_only, now): (i64, i64) = sqlx::query_as(STATE).fetch_one(connection).await?;
    let trip = before.elapsed().unwrap_or_default();
    if is_read_only != 0 {
        checkup
            .read_only("the server is read-only", "connect to the primary, or set `read_only = 0`");
    }
    checkup.clock(Timestamp::from_micros(now), before, trip);
    Ok(())
}

pub(super) async fn schema(mysql: &MySql) -> Result<SchemaState> {
    let mut connection = mysql.connections.connect().await?;
    Ok(migrate::look(&mut connection).await?.0)
}

async fn look_at_schema(connection: &mut MySqlConnection, checkup: &mut Checkup) -> Result<()> {
    let (state, edited) = migrate::look(connection).await?;
    checkup.schema(&state);
    if state == SchemaState::Current {
        checkup.fact("schema", migrate::newest());
        if let Some(error) = edited {
            let fix = "undo what was edited by hand";
            checkup.find("schema-changed", Severity::Error, error.to_string(), fix);
        }
    }
    Ok(())
}
