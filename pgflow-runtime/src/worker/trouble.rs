//! A database that does not answer.

use std::time::Duration;

use tokio::time::Instant;

use super::causes::causes;
use crate::backend::BackendError;
use crate::backoff::Backoff;

/// While a database is down, the log says so this often.
const SAY_AGAIN: Duration = Duration::from_secs(10);

/// Failures in a row: how long to wait, and when to say so.
#[derive(Debug)]
pub(super) struct Trouble {
    backoff: Backoff,
    since: Option<Instant>,
    said: Option<Instant>,
}

impl Trouble {
    pub(super) fn new() -> Self {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
        Self { backoff, since: None, said: None }
    }

    /// How long to leave the database alone after this error.
    pub(super) fn failed(&mut self, doing: &'static str, error: &BackendError) -> Duration {
        let (now, delay) = (Instant::now(), self.backoff.next());
        self.since.get_or_insert(now);
        metrics::counter!(super::metrics::DATABASE_ERRORS, "doing" => doing).increment(1);
        if self.said.is_none_or(|said| now >= said + SAY_AGAIN) {
            self.said = Some(now);
            let failures = self.backoff.failures();
            tracing::warn!(doing, failures, error = %text(error), "the database does not answer");
        }
        delay
    }

    /// Whether the last call failed.
    pub(super) fn is_on(&self) -> bool {
        self.since.is_some()
    }

    /// The database answered. Whether that is news.
    pub(super) fn over(&mut self) -> bool {
        let since = self.since.take();
        if let Some(since) = since {
            let seconds = since.elapsed().as_secs_f64();
            tracing::info!(
                failures = self.backoff.failures(),
                seconds,
                "the database answers again"
            );
            self.backoff.reset();
            self.said = None;
        }
        since.is_some()
    }
}

/// An error with what caused it.
pub(super) fn text(error: &BackendError) -> String {
    let mut text = error.to_string();
    for cause in causes(error) {
        text = format!("{text}: {cause}");
    }
    text
}
