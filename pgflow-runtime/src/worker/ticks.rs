//! When to look at schedules.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::backend::BackendError;
use crate::schedule::Ticker;
use pgflow_backend::backoff::jittered;

/// About this often, to learn of new ones. What is known to be due is looked at when it is.
const EVERY: Duration = Duration::from_secs(3);
/// A database whose clock is a little behind is not asked without a pause.
const PAUSE: Duration = Duration::from_millis(2);

/// When to look at schedules.
#[derive(Debug)]
pub(super) struct Ticks {
    ticker: Arc<Ticker>,
    /// Nothing, if the database keeps none.
    next: Option<Instant>,
}

impl Ticks {
    pub(super) fn new(ticker: Ticker, is_kept: bool, now: Instant) -> Self {
        Self { ticker: Arc::new(ticker), next: is_kept.then_some(now) }
    }

    /// When to look.
    pub(super) fn due(&self) -> Option<Instant> {
        self.next
    }

    /// Who looks, if it is time to; the next look is then set.
    pub(super) fn go(&mut self, now: Instant) -> Option<Arc<Ticker>> {
        let is_due = self.next.is_some_and(|next| next <= now);
        if is_due {
            self.next = Some(now + jittered(EVERY));
        }
        is_due.then(|| Arc::clone(&self.ticker))
    }

    /// Something is due in this time, if that is known.
    pub(super) fn on_look(&mut self, now: Instant, next_in: Option<Duration>) {
        let next = next_in.map(|next_in| now + next_in.max(PAUSE));
        self.next = self.next.into_iter().chain(next).min();
    }

    /// The database did not answer. One that keeps no schedules is not asked again.
    pub(super) fn on_error(&mut self, error: &BackendError) {
        if matches!(error, BackendError::Unsupported { .. }) {
            self.next = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_looked_at_when_it_is() {
        let start = Instant::now();
        let mut ticks = Ticks::new(Ticker::default(), true, start);
        assert!(ticks.go(start).is_some() && ticks.go(start).is_none());
        let later = ticks.due();
        ticks.on_look(start, Some(Duration::from_hours(1)));
        assert_eq!(ticks.due(), later, "there may be new ones before");
        ticks.on_look(start, Some(Duration::from_millis(70)));
        assert_eq!(ticks.due(), Some(start + Duration::from_millis(70)));
        ticks.on_look(start, Some(Duration::ZERO));
        assert_eq!(ticks.due(), Some(start + PAUSE));
    }

    #[test]
    fn where_there_are_none_nobody_looks() {
        let start = Instant::now();
        let mut ticks = Ticks::new(Ticker::default(), false, start);
        assert!(ticks.due().is_none() && ticks.go(start).is_none());
        let mut ticks = Ticks::new(Ticker::default(), true, start);
        ticks.on_error(&BackendError::Closed);
        assert!(ticks.due().is_some());
        ticks.on_error(&BackendError::Unsupported { backend: "x", what: "keep schedules" });
        assert!(ticks.due().is_none());
    }
}
