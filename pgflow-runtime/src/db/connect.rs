//! From a URL to a database.

use std::sync::Arc;

use super::url::{Kind, kind};
use super::{ConnectError, Db, UrlError, environment, shown};
use crate::backend::{Backend, BackendError};
use crate::client::again;
use crate::worker::persistently;

impl Db {
    /// Connects to the database that the URL names.
    ///
    /// | URL | database |
    /// |---|---|
    /// | `postgres://…`, `postgresql://…` | Postgres; feature `postgres` |
    /// | `sqlite:app.db`, `sqlite://app.db`, `file:app.db` | SQLite, in this file; feature `sqlite` |
    /// | `mysql://…`, `mariadb://…` | MySQL or MariaDB; feature `mysql` |
    /// | `memory:` | this process, for tests: gone when it ends |
    ///
    /// Anything else is an error that says what was probably meant; it never makes a file.
    ///
    /// The variable `WORKFLOW_POSTGRES_JOB_PREFIX` is refused: names of queues have no prefix here.
    ///
    /// A database that does not answer is asked again for some seconds, as with every other call. See
    /// [`connect_when_up`](Self::connect_when_up) for programs that are started before their database.
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        let (url, kind) = read(url)?;
        connected(url, again(|| open(kind, url)).await)
    }

    /// Connects as [`connect`](Self::connect) does, and waits for a database that is down, however long that takes: the log
    /// says so, and why. What waiting would not help, such as a wrong password, is an error at once.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// let db = pgflow::Db::connect_when_up("memory:").await?;
    /// assert_eq!(db.to_string(), "memory:");
    /// # Ok::<(), pgflow::ConnectError>(())
    /// # }).unwrap();
    /// ```
    pub async fn connect_when_up(url: &str) -> Result<Self, ConnectError> {
        let (url, kind) = read(url)?;
        connected(url, persistently(|| Box::pin(open(kind, url))).await)
    }

    /// Connects to the database that the environment names: see [`Db::find`].
    pub async fn from_env() -> Result<Self, ConnectError> {
        Self::find(None).await
    }

    /// Connects to the database that was given on the command line or, without that, by the first of these
    /// variables that is set: `PGFLOW_DATABASE_URL`, `WORKFLOW_DATABASE_URL`, `WORKFLOW_POSTGRES_URL`
    /// (deprecated: a warning is logged), `DATABASE_URL`.
    ///
    /// An empty one is an error.
    pub async fn find(flag: Option<&str>) -> Result<Self, ConnectError> {
        Self::connect(&Self::find_url(flag)?).await
    }

    /// The URL that [`find`](Self::find) connects to.
    pub fn find_url(flag: Option<&str>) -> Result<String, UrlError> {
        environment::find(flag, |name| std::env::var(name).ok())
    }
}

fn read(url: &str) -> Result<(&str, Kind), UrlError> {
    environment::refuse_prefix(environment::variable)?;
    let url = url.trim();
    if url.is_empty() {
        return Err(UrlError::Empty { source_name: "the database URL".to_owned() });
    }
    Ok((url, kind(url)?))
}

fn connected(
    url: &str,
    opened: Result<Arc<dyn Backend>, BackendError>,
) -> Result<Db, ConnectError> {
    let database = shown(url);
    match opened {
        Ok(backend) => Ok(Db::named(backend, database)),
        Err(BackendError::Refused(cause)) => Err(ConnectError::Refused { database, cause }),
        Err(cause) => Err(ConnectError::Backend { database, cause }),
    }
}

async fn open(kind: Kind, url: &str) -> Result<Arc<dyn Backend>, BackendError> {
    match kind {
        Kind::Memory => Ok(Arc::new(crate::memory::Memory::in_real_time())),
        #[cfg(feature = "sqlite")]
        Kind::Sqlite => Ok(Arc::new(crate::sqlite::Sqlite::connect(url).await?)),
        #[cfg(feature = "mysql")]
        Kind::MySql => Ok(Arc::new(crate::mysql::MySql::connect(url).await?)),
        #[cfg(feature = "postgres")]
        Kind::Postgres => Ok(Arc::new(crate::postgres::Postgres::connect(url).await?)),
        #[allow(unreachable_patterns, reason = "with every feature there is nothing left")]
        _ => Err(BackendError::Schema(format!("no backend for {}", shown(url)))),
    }
}
