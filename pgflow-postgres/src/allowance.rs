//! How long a statement may take.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many times as long as usual, at the most.
const MOST: u32 = 16;
/// For as long as this, once a statement was ended that took too long.
const LONGER_FOR: Duration = Duration::from_mins(10);

/// The time that the server gives a statement. One that it ended for taking too long is asked again by whoever needs the answer,
/// and would be ended again for ever: so it gets twice the time, and twice that. That nobody
/// answers at all is another matter, and changes nothing.
pub(super) struct Allowance {
    usual: Duration,
    longer: Mutex<Option<(u32, Instant)>>,
}

impl Allowance {
    pub(super) fn new(usual: Duration) -> Self {
        Self { usual, longer: Mutex::default() }
    }

    /// What a connection is told once and for all.
    pub(super) fn usual(&self) -> Duration {
        self.usual
    }

    /// What a statement may take that is sent now.
    pub(super) fn now(&self) -> Duration {
        self.usual * self.factor(Instant::now())
    }

    /// The server has ended a statement that was allowed so much.
    pub(super) fn exceeded(&self, allowed: Duration) {
        let now = Instant::now();
        if allowed >= self.usual * self.factor(now) {
            let factor = (self.factor(now) * 2).min(MOST);
            *self.longer.lock().unwrap_or_else(PoisonError::into_inner) = Some((factor, now));
        }
    }

    fn factor(&self, now: Instant) -> u32 {
        let longer = self.longer.lock().unwrap_or_else(PoisonError::into_inner);
        longer.filter(|(_, since)| now - *since < LONGER_FOR).map_or(1, |(factor, _)| factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_secs(20);

    #[test]
    fn what_took_too_long_gets_more_time_and_no_more_than_that() {
        let allowance = Allowance::new(USUAL);
        for factor in [1, 2, 4, 8, 16, 16] {
            assert_eq!(allowance.now(), USUAL * factor);
            allowance.exceeded(allowance.now());
        }
    }

    #[test]
    fn statements_that_were_sent_together_count_once() {
        let allowance = Allowance::new(USUAL);
        allowance.exceeded(USUAL);
        allowance.exceeded(USUAL);
        assert_eq!(allowance.now(), USUAL * 2);
    }
}
