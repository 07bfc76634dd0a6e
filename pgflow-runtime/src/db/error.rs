//! Why a database can't be used.

use pgflow_model::with_causes;

use super::url::UrlError;
use crate::RegisterError;
use crate::backend::BackendError;

/// Why there is no connection to a database.
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use pgflow::{ConnectError, Db};
///
/// let error = Db::connect("postgre://localhost/app").await.unwrap_err();
/// assert!(matches!(error, ConnectError::Url(_)));
/// assert!(error.to_string().contains("postgres"), "{error}");
/// # });
/// ```
/// It says all there is to say about the cause, so it names no source.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL does not say which database to use.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// It can't be used as the URL says: there is no such database, file or directory, or the password is wrong.
    #[error("cannot use {database}: {}", with_causes(&**.cause))]
    Refused {
        /// Its URL, without password.
        database: String,
        /// Why.
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The database does not let us in.
    #[error("cannot connect to {database}: {}", with_causes(.cause))]
    Backend {
        /// Its URL, without password.
        database: String,
        /// Why.
        cause: BackendError,
    },
}

pgflow_model::debug_with_causes!(ConnectError);

/// Why a flow can't be registered.
///
/// ```
/// use pgflow::client::RegisterFlowError;
///
/// let differences = vec!["step `pay` is new".to_owned()];
/// let error = RegisterFlowError::Conflict { slug: "order".to_owned(), differences };
/// assert!(error.to_string().contains("another flow under `order`: step `pay` is new"));
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RegisterFlowError {
    /// The flow is wrong in itself.
    #[error(transparent)]
    Flow(#[from] RegisterError),
    /// The database has something else under this name.
    #[error(
        "the database has another flow under `{slug}`: {}\nhelp: {HELP}", .differences.join("; ")
    )]
    Conflict {
        /// Slug of the version.
        slug: String,
        /// What differs, a sentence each.
        differences: Vec<String>,
    },
    /// The database refused.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

pgflow_model::debug_with_causes!(RegisterFlowError);

const HELP: &str = "a flow that has run is changed by a new version: let `pgflow_build` write the \
                    migration, or start with an empty database while you develop";
