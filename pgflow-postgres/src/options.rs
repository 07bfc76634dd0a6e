//! How to connect.

use std::fmt;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;

use super::address::ShownAddress;
#[cfg(not(feature = "tls"))]
use super::url::BadUrl;
use pgflow_backend::backend::BackendError;

/// How to connect to Postgres.
///
/// ```
/// use pgflow_postgres::PostgresOptions;
///
/// let options = PostgresOptions {
///     tx_connections: 8,
///     ..PostgresOptions::new("postgres://app:secret@db.example/shop")
/// };
/// assert!(!format!("{options:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct PostgresOptions {
    /// Where the database is.
    pub url: String,
    /// How to reach it directly when `url` leads to a pooler that has transactions share sessions: hints
    /// need a session of their own. [`new`](Self::new) takes it from `PGFLOW_LISTEN_URL`.
    pub listen_url: Option<String>,
    /// Connections for claims, results, heartbeats and the client's calls: 2. One of them is always left
    /// to the worker. Besides these there is one for hints.
    pub engine_connections: u32,
    /// Connections for steps that share a transaction with the record of their completion: 4. As many
    /// such steps run at once.
    pub tx_connections: u32,
    /// Whether a pooler is between us and the server.
    pub pooling: Pooling,
    /// When a commit is safe.
    pub durability: Durability,
    /// How long the server may take to answer a call before it counts as gone: 20 s.
    pub answer_within: Duration,
    /// How often the connection that hints come on is checked: every 30 s. A dead one is noticed after
    /// a third more.
    pub check_listener_every: Duration,
}

/// Whether a pooler gives each transaction to another session, as PgBouncer does in its mode
/// `transaction`. Then there are no prepared statements and, without a
/// [`listen_url`](PostgresOptions::listen_url), no hints from other processes.
///
/// ```
/// use pgflow_postgres::{Pooling, PostgresOptions};
///
/// let options = PostgresOptions { pooling: Pooling::Transactions, ..PostgresOptions::new("postgres://localhost/app") };
/// assert_ne!(options.pooling, Pooling::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pooling {
    /// Find out when connecting.
    #[default]
    Detect,
    /// It does.
    Transactions,
    /// Sessions are ours.
    None,
}

/// When a commit counts as done.
///
/// ```
/// use pgflow_postgres::{Durability, PostgresOptions};
///
/// let options = PostgresOptions { durability: Durability::Relaxed, ..PostgresOptions::new("postgres://localhost/app") };
/// assert_ne!(options.durability, Durability::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// As the server is set up: normally when it is on disk.
    #[default]
    Server,
    /// Before it is on disk: faster, and when the server crashes the last moments are lost, as if they had
    /// not happened. Not available behind a pooler.
    Relaxed,
}

impl PostgresOptions {
    /// The defaults.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            listen_url: std::env::var("PGFLOW_LISTEN_URL").ok().filter(|url| !url.is_empty()),
            engine_connections: 2,
            tx_connections: 4,
            pooling: Pooling::default(),
            durability: Durability::default(),
            answer_within: Duration::from_secs(20),
            check_listener_every: Duration::from_secs(30),
        }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("url", &ShownAddress::of_url(&self.url))
            .field("listen_url", &self.listen_url.as_deref().map(ShownAddress::of_url))
            .field("engine_connections", &self.engine_connections)
            .field("tx_connections", &self.tx_connections)
            .field("pooling", &self.pooling)
            .field("durability", &self.durability)
            .field("answer_within", &self.answer_within)
            .field("check_listener_every", &self.check_listener_every)
            .finish()
    }
}

#[cfg(feature = "tls")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature there is an error")]
pub(super) fn check_tls(_: &PgConnectOptions) -> Result<(), BackendError> {
    Ok(())
}

#[cfg(not(feature = "tls"))]
pub(super) fn check_tls(options: &PgConnectOptions) -> Result<(), BackendError> {
    use sqlx::postgres::PgSslMode::{Allow, Disable, Prefer};
    match options.get_ssl_mode() {
        Disable | Allow | Prefer => Ok(()),
        _ => Err(BadUrl::NoTls.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::url::parse;
    use super::*;

    const SECRET: &str = "hunter2";

    #[test]
    fn no_password_is_ever_shown() {
        for url in [
            "postgres://app:hunter2@db.example:6432/shop",
            "postgres://app@db.example/shop?password=hunter2",
            "postgres://app:hunter2@db.example:notaport/shop",
            "postgres:app:hunter2@db.example/shop",
            "postgres://app@db.example/shop?sslmode=hunter2",
            "postgres://app@db.example/shop?port=hunter2",
        ] {
            let options =
                PostgresOptions { listen_url: Some(url.to_owned()), ..PostgresOptions::new(url) };
            let shown = format!("{options:?}");
            assert!(!shown.contains(SECRET), "{shown}");
            if let Err(error) = parse(url) {
                assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
            }
        }
    }

    #[cfg(not(feature = "tls"))]
    #[test]
    fn a_url_that_needs_encryption_is_refused_with_the_reason() {
        let error = parse("postgres://db.example/shop?sslmode=require").unwrap_err();
        let source = std::error::Error::source(&error).expect("a reason").to_string();
        assert!(source.contains("feature `tls`"), "{source}");
        assert!(parse("postgres://db.example/shop?sslmode=prefer").is_ok());
    }
}
