//! What a statement gives back: rows as text, or a failure.

use std::fmt;

use sqlx::error::DatabaseError;
use sqlx::postgres::{PgDatabaseError, PgRow};
use sqlx::{AssertSqlSafe, Executor, Postgres, Row, ValueRef};

/// A refusal by the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) constraint: Option<String>,
    pub(crate) detail: Option<String>,
}

/// `SQLSTATE message`, so that one string says all that a caller may rely on.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.message)
    }
}

impl Failure {
    fn of(error: &sqlx::Error) -> Self {
        let sqlx::Error::Database(database) = error else { panic!("not a refusal: {error}") };
        let error = database.downcast_ref::<PgDatabaseError>();
        Self {
            code: error.code().to_owned(),
            message: error.message().to_owned(),
            detail: error.detail().map(str::to_owned),
            constraint: DatabaseError::constraint(error).map(str::to_owned),
        }
    }
}

/// Runs a script in the simple protocol, where every value comes back as text.
pub(crate) async fn ask<'c, E>(on: E, sql: &str) -> Result<Vec<String>, Failure>
where
    E: Executor<'c, Database = Postgres>,
{
    let script = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
    match script.fetch_all(on).await {
        Ok(rows) => Ok(rows.iter().map(line).collect()),
        Err(error) => Err(Failure::of(&error)),
    }
}

/// One row as `a|b|c`; SQL NULL is `NULL`, JSON null stays `null`.
fn line(row: &PgRow) -> String {
    let cells = (0..row.len()).map(|i| {
        let value = row.try_get_raw(i).expect("the column is there");
        if value.is_null() { "NULL".to_owned() } else { value.as_str().expect("text").to_owned() }
    });
    cells.collect::<Vec<_>>().join("|")
}

/// A string literal.
pub(crate) fn lit(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
