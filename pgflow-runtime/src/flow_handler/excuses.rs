//! Steps that cannot go on because the database is in trouble.

use std::error::Error as StdError;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pgflow_machine::{Beat, Lease, Until, Verdict};
use pgflow_model::causes;
use tokio::time::{Instant, timeout};

use super::attempt::Attempt;
use super::shared::Shared;
use crate::backend::{Backend, Reply};
use crate::calls;
use crate::worker::{Ended, LogLimit, tidy};
use pgflow_backend::backoff::Backoff;

/// A task that was begun so often gets no excuse any more that only the step itself met a reason for. It is the number of the
/// attempt, so that the database counts, for all workers together.
const MOST: u32 = 20;
/// How long such a task waits, at first and at most. It doubles in between.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(5));
/// How long a second look may take.
const LOOK: Duration = Duration::from_secs(10);

/// Failures that are not held against a step: it is tried again after a while, and no attempt is used up.
#[derive(Debug)]
pub(super) struct Excuses(Mutex<Inner>);

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

/// Why a step could not go on, in its own words.
#[derive(Debug)]
pub(super) struct Excuse {
    pub(super) doing: &'static str,
    pub(super) error: String,
    /// Another connection may have more luck, as on a disk that is nearly full: that it does work proves nothing.
    pub(super) may_be_lucky: bool,
}

impl Excuses {
    /// How long the task waits before it is tried again.
    fn delay(&self, doing: &'static str, error: &str) -> Duration {
        let mut inner = self.lock();
        if inner.log.may_say(Instant::now()) {
            tracing::warn!(doing, error, "the database is in trouble: a step has to wait");
        }
        inner.backoff.next()
    }

    /// The database recorded a step: it is not in trouble.
    pub(super) fn recorded(&self) {
        self.lock().backoff.reset();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The database is in trouble, and the step has no part in it: it runs again after a while, and no attempt is used up. Until then its
/// run says what it waits for.
pub(super) fn held_up(shared: &Shared, doing: &'static str, error: &str) -> Ended {
    wait(shared.excuses.delay(doing, error), doing, error)
}

/// The same for something that the step met, if a second look on another connection finds the database in trouble as well, or
/// that cannot be found out and the task has not been begun too often.
pub(super) async fn excused(attempt: &Attempt, shared: &Shared, excuse: &Excuse) -> Option<Ended> {
    let (lease, doing, error) = (&attempt.task.lease, excuse.doing, &excuse.error);
    match second_look(shared, lease.clone().into()).await {
        None => Some(held_up(shared, doing, error)),
        // It is over, or another's: giving it back changes nothing.
        Some(Beat::Lost | Beat::Cancelled) => Some(Ended::Verdict(Verdict::Released)),
        Some(Beat::Extended) if excuse.may_be_lucky && lease.attempt < MOST => {
            shared.excuses.delay(doing, error);
            Some(wait(patience(lease.attempt), doing, error))
        }
        Some(Beat::Extended) => None,
    }
}

fn wait(after: Duration, doing: &'static str, error: &str) -> Ended {
    let until = Until::After(after);
    Ended::Verdict(Verdict::Yielded { until, reason: tidy(&format!("{doing}: {error}")) })
}

fn patience(attempt: u32) -> Duration {
    WAIT.1.min(WAIT.0 * 2_u32.pow(attempt.saturating_sub(1).min(10)))
}

/// Writes something on another connection: what it says of the task, or nothing if the database is in trouble.
async fn second_look(shared: &Shared, lease: Lease) -> Option<Beat> {
    let look = calls::apart(&shared.backend, move |backend| beat(backend, lease));
    timeout(LOOK, look).await.ok()?.ok()?.pop()
}

fn beat(backend: &dyn Backend, lease: Lease) -> Reply<'_, Vec<Beat>> {
    Box::pin(async move { backend.heartbeat(&[lease]).await })
}

/// Whether a handler's error says that a database as a whole can't do what it should: it is full, or read-only. It need
/// not be ours.
pub(super) fn is_database_wide(error: &(dyn StdError + 'static)) -> bool {
    std::iter::once(error).chain(causes(error)).any(says_so)
}

/// Whether it says so because its transaction is read-only, as the step may have made it itself.
pub(super) fn is_read_only(error: &(dyn StdError + 'static)) -> bool {
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

    #[test]
    fn a_task_waits_longer_each_time_and_not_for_ever() {
        assert_eq!(patience(1), WAIT.0);
        assert!((1..u32::from(u8::MAX)).all(|nth| patience(nth) <= patience(nth + 1)));
        assert_eq!(patience(u32::MAX), WAIT.1);
        let all: Duration = (1..MOST).map(patience).sum();
        assert!(all > Duration::from_mins(30) && all < Duration::from_hours(2), "{all:?}");
    }
}
