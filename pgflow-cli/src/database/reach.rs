//! Which database, and whether it can be used.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use pgflow_runtime::backend::{Checkup, SchemaState};
use pgflow_runtime::client::Moments;
use pgflow_runtime::db::ConnectError;
use pgflow_runtime::{Db, Timestamp};

use super::{Times, paint};
use crate::error::Error;
use crate::interrupt::at_once;

/// How long taking leave of a database may last.
const LEAVE: Duration = Duration::from_secs(2);

thread_local! {
    /// Databases that this command has connected to.
    static CONNECTED: RefCell<Vec<Db>> = const { RefCell::new(Vec::new()) };
}

/// Options of every command about runs.
#[derive(Args, Clone)]
pub(crate) struct Reach {
    /// The database, such as `postgres://localhost/shop` or `sqlite:app.db` [default: as the environment says]
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,

    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print times as they are, in UTC, instead of how long ago they were.
    #[arg(long)]
    pub(crate) utc: bool,
}

impl Reach {
    /// Connects to whatever is there.
    pub(crate) async fn connect(&self) -> Result<Db, Error> {
        let url = self.url()?;
        if let Some(file) = file_of(&url)
            && !file.exists()
        {
            return Err(Error::NoFile(file));
        }
        connect(&url).await
    }

    /// The same for commands that may make a file.
    pub(crate) async fn connect_or_make(&self) -> Result<Db, Error> {
        connect(&self.url()?).await
    }

    fn url(&self) -> Result<String, Error> {
        Ok(Db::find_url(self.database.as_deref()).map_err(ConnectError::from)?)
    }

    /// Connects to a database whose schema fits.
    pub(crate) async fn open(&self) -> Result<Db, Error> {
        let db = self.connect().await?;
        let state = db.schema().await?;
        match state {
            SchemaState::Current | SchemaState::Hidden => Ok(db),
            state => Err(unfit(&db, &state)),
        }
    }

    /// How sentences say moments.
    pub(crate) fn moments(&self, now: Timestamp) -> Moments {
        self.times_at(now).moments(now)
    }

    /// How to print moments, at one of them.
    pub(crate) fn times_at(&self, now: Timestamp) -> Times {
        Times::new(now, self.utc, paint())
    }

    /// How to print moments.
    pub(crate) async fn times(&self, db: &Db) -> Result<Times, Error> {
        Ok(self.times_at(db.now().await?))
    }
}

async fn connect(url: &str) -> Result<Db, Error> {
    let db = Db::connect(url).await?;
    CONNECTED.with_borrow_mut(|connected| connected.push(db.clone()));
    Ok(db)
}

fn unfit(db: &Db, state: &SchemaState) -> Error {
    let mut checkup = Checkup::default();
    checkup.schema(state);
    let (what, fix) =
        checkup.findings.pop().map(|finding| (finding.what, finding.fix)).unwrap_or_default();
    Error::Unfit { what: format!("{db}: {what}"), fix }
}

/// The file that a URL of SQLite names. Connecting would make one that is missing, and a name with a mistake in it
/// must not.
fn file_of(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:").or_else(|| url.strip_prefix("file:"))?;
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let path = rest.split('?').next().unwrap_or(rest);
    (path != ":memory:" && !path.is_empty()).then(|| Path::new(path).to_owned())
}

/// Runs a command that asks a database, and takes leave of that: a server would note a client that vanished, and a
/// file of SQLite would keep its log beside it.
pub(crate) fn block_on<T>(command: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Error::Runtime)?;
    let result = runtime.block_on(async {
        let result = tokio::select! {
            // First: what it reads from a terminal keeps Ctrl-C as it was.
            biased;
            result = command => result,
            () = at_once() => Err(Error::Interrupted),
        };
        for db in CONNECTED.take() {
            // Nothing is lost if it does not answer.
            let _ = tokio::time::timeout(LEAVE, db.close()).await;
        }
        result
    });
    // Somebody who was asked may never answer.
    runtime.shutdown_background();
    result
}

#[cfg(test)]
mod tests {
    use super::file_of;
    use std::path::PathBuf;

    #[test]
    fn files_are_known_by_their_url() {
        for url in ["sqlite:app.db", "sqlite://app.db", "file:app.db", "sqlite:app.db?x=1"] {
            assert_eq!(file_of(url), Some(PathBuf::from("app.db")), "{url}");
        }
        for url in ["sqlite::memory:", "memory:", "postgres://localhost/app"] {
            assert_eq!(file_of(url), None, "{url}");
        }
    }
}
