//! From a URL to a database.

use std::sync::Arc;

use super::url::{Kind, kind};
use super::{ConnectError, Db, UrlError, environment, shown};
use crate::backend::{Backend, BackendError};

impl Db {
    /// Connects to the database that the URL names.
    ///
    /// | URL | database |
    /// |---|---|
    /// | `postgres://…`, `postgresql://…` | Postgres; feature `postgres` |
    /// | `sqlite:app.db`, `sqlite://app.db`, `file:app.db` | SQLite, in this file; feature `sqlite` |
    /// | `memory:` | this process, for tests: gone when it ends |
    ///
    /// Anything else is an error that says what was probably meant; it never makes a file.
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        let url = url.trim();
        if url.is_empty() {
            return Err(UrlError::Empty { source_name: "the database URL".to_owned() }.into());
        }
        let name = shown(url);
        match open(kind(url)?, url).await {
            Ok(backend) => Ok(Self::named(backend, name)),
            Err(BackendError::Refused(source)) => {
                Err(ConnectError::Refused { database: name, source })
            }
            Err(source) => Err(ConnectError::Backend { database: name, source }),
        }
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
        let url = environment::find(flag, |name| std::env::var(name).ok())?;
        Self::connect(&url).await
    }
}

async fn open(kind: Kind, url: &str) -> Result<Arc<dyn Backend>, BackendError> {
    match kind {
        Kind::Memory => Ok(Arc::new(crate::memory::Memory::in_real_time())),
        #[cfg(feature = "sqlite")]
        Kind::Sqlite => Ok(Arc::new(crate::sqlite::Sqlite::connect(url).await?)),
        #[cfg(feature = "postgres")]
        Kind::Postgres => Ok(Arc::new(crate::postgres::Postgres::connect(url).await?)),
        #[allow(unreachable_patterns, reason = "with every feature there is nothing left")]
        _ => Err(BackendError::Schema(format!("no backend for {}", shown(url)))),
    }
}
