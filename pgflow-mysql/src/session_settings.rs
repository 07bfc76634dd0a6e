//! Every session is set up alike, and looked at before it is used.

use std::collections::BTreeSet;
use std::time::Duration;

use pgflow_machine::job::RING_WALK;
use sqlx::{Executor as _, MySqlConnection, Row as _};

use crate::error::Result;
use crate::{MySqlError, Version};

/// Fixed, so that no server's own choice changes what a statement does. Nothing in it changes how SQL is written, because
/// steps with `tx: &mut Tx` write theirs in such a session.
const SQL_MODE: &[&str] = &[
    "ERROR_FOR_DIVISION_BY_ZERO",
    "NO_ENGINE_SUBSTITUTION",
    "NO_ZERO_DATE",
    "NO_ZERO_IN_DATE",
    "ONLY_FULL_GROUP_BY",
    "STRICT_ALL_TABLES",
    "STRICT_TRANS_TABLES",
];

/// Gap locks of REPEATABLE READ would have inserts into a queue block each other to death.
const ISOLATION: &str = "set session transaction isolation level read committed";

/// Sets a new session up, and refuses to work in one that is not as it was set.
pub(crate) async fn set_up(
    connection: &mut MySqlConnection,
    lock_wait: Duration,
) -> Result<Version> {
    let said: String = sqlx::query_scalar("select version()").fetch_one(&mut *connection).await?;
    let version = said.parse::<Version>()?.check()?;
    set(connection, lock_wait).await?;
    check(connection, version).await?;
    Ok(version)
}

/// Sets what was perhaps changed since.
pub(crate) async fn set(connection: &mut MySqlConnection, lock_wait: Duration) -> Result<()> {
    let set = format!("{}, autocommit = 1", settings(lock_wait));
    connection.execute(sqlx::AssertSqlSafe(set)).await?;
    connection.execute(ISOLATION).await?;
    Ok(())
}

/// The same in a transaction, whose isolation is what it is, and which `autocommit` would end.
pub(crate) async fn set_inside(
    connection: &mut MySqlConnection,
    lock_wait: Duration,
) -> Result<()> {
    connection.execute(sqlx::AssertSqlSafe(settings(lock_wait))).await?;
    Ok(())
}

/// Sets what matters to a statement.
fn settings(lock_wait: Duration) -> String {
    let lock_wait = lock_wait.as_secs().max(1);
    format!(
        "set names utf8mb4 collate utf8mb4_bin, sql_mode = '{}', time_zone = '+00:00', sql_select_limit = default, \
         innodb_lock_wait_timeout = {lock_wait}, lock_wait_timeout = {lock_wait} {}",
        SQL_MODE.join(","),
        recursion()
    )
}

/// How far a walk from job to job goes, in what only MariaDB reads and in what only MySQL reads. MariaDB stops there, which is as far
/// as rings are looked for. To MySQL it is an error to come so far, so it gets the most that there can be.
fn recursion() -> String {
    format!(
        "/*M! , max_recursive_iterations = {RING_WALK} */ \
         /*!80000 , cte_max_recursion_depth = 4294967295 */"
    )
}

/// How long a transaction of the engine may wait for its next statement. Its process is frozen if it does: others wait for its
/// row locks. MySQL only knows how long a session may be idle, which is longer than a pool lets one be without asking.
pub(crate) async fn limit_idle(connection: &mut MySqlConnection, version: Version) -> Result<()> {
    let set = if version.is_mariadb {
        "set session idle_transaction_timeout = 10"
    } else {
        "set session wait_timeout = 20"
    };
    connection.execute(set).await?;
    Ok(())
}

async fn check(connection: &mut MySqlConnection, version: Version) -> Result<()> {
    let look = if version.is_mariadb {
        "select @@session.tx_isolation, @@session.sql_mode, @@session.time_zone, @@session.collation_connection, \
                @@session.character_set_client, if(@@session.autocommit, '1', '0')"
    } else {
        "select @@session.transaction_isolation, @@session.sql_mode, @@session.time_zone, \
                @@session.collation_connection, @@session.character_set_client, if(@@session.autocommit, '1', '0')"
    };
    let row = connection.fetch_one(look).await?;
    let wanted = [
        ("transaction_isolation", "READ-COMMITTED"),
        ("sql_mode", &SQL_MODE.join(",")),
        ("time_zone", "+00:00"),
        ("collation_connection", "utf8mb4_bin"),
        ("character_set_client", "utf8mb4"),
        ("autocommit", "1"),
    ];
    for (at, (setting, wanted)) in wanted.into_iter().enumerate() {
        let found: String = row.try_get(at)?;
        if words(&found) != words(wanted) {
            return Err(MySqlError::Session { setting, found, wanted: wanted.to_owned() }.into());
        }
    }
    Ok(())
}

/// Servers write lists in an order of their own.
fn words(value: &str) -> BTreeSet<&str> {
    value.split(',').collect()
}
