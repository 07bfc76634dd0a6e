//! How long to wait before asking again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use tokio::time::Instant;

/// As good as for ever, and still a moment that every clock can name.
const FAR: Duration = Duration::from_hours(30 * 365 * 24);

/// The moment so long after `now`, however long that is.
pub fn after(now: Instant, delay: Duration) -> Instant {
    now + delay.min(FAR)
}

/// Delays that double up to a limit, each a little different so that processes do not ask in step.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    failures: u32,
    first: Duration,
    longest: Duration,
}

impl Backoff {
    /// Delays from `first` to `longest`.
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { failures: 0, first, longest }
    }

    /// The delay after one more failure.
    #[expect(clippy::should_implement_trait, reason = "delays are asked for one by one")]
    pub fn next(&mut self) -> Duration {
        let delay = self.first.saturating_mul(1 << self.failures.min(20)).min(self.longest);
        self.failures = self.failures.saturating_add(1);
        jittered(delay)
    }

    /// How many failures in a row there were.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// The next failure is the first one again.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

/// About this long: between three quarters and five quarters of it.
pub fn jittered(around: Duration) -> Duration {
    around.mul_f64(0.75 + f64::from(random()) / f64::from(u32::MAX) / 2.0)
}

/// Any number: for delays and turns that must not be in step with anything.
pub fn random() -> u32 {
    (RandomState::new().build_hasher().finish() >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_delay_is_too_long() {
        let now = Instant::now();
        assert_eq!(after(now, Duration::from_secs(7)), now + Duration::from_secs(7));
        assert!(after(now, Duration::MAX) > now + Duration::from_hours(24 * 365));
    }

    #[test]
    fn delays_double_up_to_the_longest() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        let delays: Vec<_> = (0..40).map(|_| backoff.next()).collect();
        for (at, middle) in [(0, 100), (1, 200), (2, 400), (3, 800), (4, 1000), (39, 1000)] {
            let (low, high) = (middle * 3 / 4, middle * 5 / 4);
            assert!((low..=high).contains(&delays[at].as_millis()), "{delays:?}");
        }
        backoff.reset();
        assert!(backoff.next() <= Duration::from_millis(125));
    }
}
