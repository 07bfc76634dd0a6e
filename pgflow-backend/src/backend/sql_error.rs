//! What a database said, said once.

use std::error::Error;
use std::fmt;

/// An error of `sqlx`. As it is, its text repeats that of its source, and Postgres' adds a line of the server's own
/// source code; here, there is one text, and it is the database's.
///
/// ```
/// use std::error::Error;
///
/// use pgflow_backend::backend::{BackendError, SqlError};
///
/// /// The code that the database gave, such as `28P01` for a wrong password.
/// fn code(error: &BackendError) -> Option<String> {
///     let said = error.source()?.downcast_ref::<SqlError>()?;
///     said.sqlx().as_database_error()?.code().map(Into::into)
/// }
/// # assert_eq!(code(&BackendError::Closed), None);
/// ```
pub struct SqlError(pub sqlx::Error);

impl SqlError {
    /// What sqlx returned.
    pub fn new(error: sqlx::Error) -> Self {
        Self(error)
    }

    /// The error itself.
    pub fn sqlx(&self) -> &sqlx::Error {
        &self.0
    }

    /// The innermost of them says what is wrong; the others only lead there.
    fn text(&self) -> String {
        if let sqlx::Error::Database(database) = &self.0 {
            return database.message().to_owned();
        }
        let mut cause: &dyn Error = &self.0;
        while let Some(inner) = cause.source() {
            if !cause.to_string().contains(&inner.to_string()) {
                break;
            }
            cause = inner;
        }
        cause.to_string()
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for SqlError {}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn nothing_is_said_twice() {
        let refused = io::Error::new(io::ErrorKind::ConnectionRefused, "nobody is there");
        let said = SqlError(sqlx::Error::Io(refused));
        assert_eq!(said.to_string(), "nobody is there");
        assert!(said.source().is_none());
        assert_eq!(
            SqlError(sqlx::Error::RowNotFound).to_string(),
            sqlx::Error::RowNotFound.to_string()
        );
    }
}
