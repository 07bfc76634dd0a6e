//! Work that cannot go on because the database is in trouble.

use std::error::Error as StdError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pgflow_machine::{Beat, Lease};
use pgflow_model::{causes, with_causes};
use tokio::time::{Instant, timeout};

use super::{LogLimit, stages};
use crate::backend::{Backend, BackendError, Reply};
use crate::{Error, calls};
use pgflow_backend::backoff::Backoff;

/// What was begun so often gets no excuse any more that only it met a reason for.
pub(crate) const MOST: u32 = 20;
/// How long a second look may take.
const LOOK: Duration = Duration::from_secs(10);

/// Failures that are not held against an attempt: it is made again after a while, and none is used up.
#[derive(Debug)]
pub(crate) struct Excuses(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    backoff: Backoff,
    log: LogLimit,
}

impl Default for Excuses {
    fn default() -> Self {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
        Self(Mutex::new(Inner { backoff, log: LogLimit::default() }))
    }
}

/// Why an attempt could not go on, in its own words.
#[derive(Debug)]
pub(crate) struct Excuse {
    pub(crate) doing: &'static str,
    pub(crate) error: String,
    /// Another connection may have more luck, as on a disk that is nearly full: that it does work proves nothing.
    may_be_lucky: bool,
}

impl Excuse {
    /// What an error of a handler says, if it may not be the handler's fault, and the handler does not want it to be final.
    pub(crate) fn of_handler(error: &Error) -> Option<Self> {
        let source = error.as_source();
        let is_excused = !error.retry().is_final() && is_database_wide(source);
        let may_be_lucky = !is_read_only(source);
        is_excused.then(|| Self { doing: "handler", error: error.to_string(), may_be_lucky })
    }

    /// Why a transaction was not committed.
    pub(crate) fn of_commit(error: &BackendError) -> Self {
        let may_be_lucky = error.is_temporary();
        Self { doing: "commit", error: with_causes(error), may_be_lucky }
    }

    /// Whether it counts, by a second look on another connection.
    pub(crate) async fn look(&self, backend: &Arc<dyn Backend>, lease: Lease) -> Sight {
        match second_look(backend, lease).await {
            None => Sight::Trouble,
            Some(Beat::Lost | Beat::Cancelled) => Sight::Gone,
            Some(Beat::Extended) if self.may_be_lucky => Sight::Unclear,
            Some(Beat::Extended) => Sight::Well,
        }
    }
}

/// What a second look finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// The database is in trouble, and the attempt has no part in it.
    Trouble,
    /// The attempt is over, or another's: giving it back changes nothing.
    Gone,
    /// The database works for others, which proves nothing.
    Unclear,
    /// It lies in the attempt.
    Well,
}

impl Excuses {
    /// How long it takes before the next attempt.
    pub(crate) fn delay(&self, doing: &'static str, error: &str) -> Duration {
        let mut inner = self.lock();
        if inner.log.may_say(Instant::now()) {
            tracing::warn!(doing, error, "the database is in trouble: an attempt has to wait");
        }
        inner.backoff.next()
    }

    /// The database recorded an attempt: it is not in trouble.
    pub(crate) fn recorded(&self) {
        self.lock().backoff.reset();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes something on another connection: what it says of the lease, or nothing if the database is in trouble.
async fn second_look(backend: &Arc<dyn Backend>, lease: Lease) -> Option<Beat> {
    let look = calls::apart(backend, move |backend| beat(backend, lease));
    timeout(LOOK, look).await.ok()?.ok()?.pop()
}

fn beat(backend: &dyn Backend, lease: Lease) -> Reply<'_, Vec<Beat>> {
    Box::pin(async move { stages::beat(backend, &[lease]).await })
}

/// Whether a handler's error says that a database as a whole can't do what it should: it is full, or read-only. It need
/// not be ours.
fn is_database_wide(error: &(dyn StdError + 'static)) -> bool {
    std::iter::once(error).chain(causes(error)).any(says_so)
}

/// Whether it says so because its transaction is read-only, as the handler may have made it itself.
fn is_read_only(error: &(dyn StdError + 'static)) -> bool {
    #[cfg(feature = "postgres")]
    return std::iter::once(error)
        .chain(causes(error))
        .filter_map(sqlx_error)
        .any(crate::postgres::is_read_only);
    #[cfg(not(feature = "postgres"))]
    {
        let _ = error;
        false
    }
}

#[cfg(feature = "sql")]
fn sqlx_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a sqlx::Error> {
    let said = error.downcast_ref::<crate::backend::SqlError>().map(crate::backend::SqlError::sqlx);
    error.downcast_ref::<sqlx::Error>().or(said)
}

#[cfg(feature = "sql")]
fn says_so(error: &(dyn StdError + 'static)) -> bool {
    let Some(error) = sqlx_error(error) else { return false };
    #[cfg(feature = "postgres")]
    if crate::postgres::is_server_wide(error) {
        return true;
    }
    #[cfg(feature = "sqlite")]
    if crate::sqlite::is_file_wide(error) {
        return true;
    }
    #[cfg(feature = "mysql")]
    if crate::mysql::is_server_wide(error) {
        return true;
    }
    false
}

#[cfg(not(feature = "sql"))]
fn says_so(_: &(dyn StdError + 'static)) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_until_something_is_recorded() {
        let excuses = Excuses::default();
        let delay = || excuses.delay("commit", "the disk is full");
        assert!((0..9).map(|_| delay()).max() > Some(Duration::from_secs(3)));
        excuses.recorded();
        assert!(delay() < Duration::from_secs(1));
    }
}
