//! What backends that speak through sqlx share.

use sqlx::Connection;

use crate::backend::BackendError;

/// Whether a run that starts on this connection is part of something that can still be undone.
pub fn check_transaction(connection: &impl Connection) -> Result<(), BackendError> {
    if connection.is_in_transaction() { Ok(()) } else { Err(BackendError::NoTransaction) }
}

/// Logs that a transaction could not be rolled back: it is undone with its connection.
pub fn undone(result: Result<(), sqlx::Error>) {
    if let Err(error) = result {
        tracing::debug!(%error, "a transaction could not be rolled back");
    }
}

/// Declares `Error` and `Result` of a backend that speaks through sqlx: what goes wrong inside of it is an error of sqlx, which its
/// function translates at the end, or is said in the words of the contract already. Its own kind of error is the second.
#[macro_export]
macro_rules! store_errors {
    ($own:ident, $translate:path) => {
        /// What goes wrong inside of this backend.
        #[derive(Debug)]
        pub(crate) enum Error {
            Sqlx(sqlx::Error),
            Backend($crate::backend::BackendError),
        }

        pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

        impl From<sqlx::Error> for Error {
            fn from(error: sqlx::Error) -> Self {
                Self::Sqlx(error)
            }
        }

        impl From<$crate::backend::BackendError> for Error {
            fn from(error: $crate::backend::BackendError) -> Self {
                Self::Backend(error)
            }
        }

        impl From<$own> for Error {
            fn from(error: $own) -> Self {
                Self::Backend(error.into())
            }
        }

        impl From<Error> for $crate::backend::BackendError {
            fn from(error: Error) -> Self {
                match error {
                    Error::Sqlx(error) => $translate(error),
                    Error::Backend(error) => error,
                }
            }
        }

        /// Something in the database that this library never writes.
        pub(crate) fn broken(what: impl std::fmt::Display) -> Error {
            let text = format!("{what}; was the database edited by hand?");
            Error::Backend($crate::backend::BackendError::Schema(text))
        }
    };
}
