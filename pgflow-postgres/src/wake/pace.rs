//! How often the bell may ring.

use std::time::Duration;

use tokio::time::Instant;

const SHORTEST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_millis(40);

/// The first hint after a pause goes out at once; while they keep coming, each statement waits
/// a little longer for more of them.
#[derive(Debug)]
pub(super) struct Pace {
    gap: Duration,
    next: Instant,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { gap: SHORTEST, next: Instant::now() }
    }

    /// When the next statement may go out.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// One went out.
    pub(super) fn rang(&mut self, now: Instant) {
        let had_pause = now.duration_since(self.next) > LONGEST;
        self.gap = if had_pause { SHORTEST } else { (self.gap * 2).min(LONGEST) };
        self.next = now + self.gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn slows_down_while_hints_keep_coming_and_recovers() {
        let mut pace = Pace::new();
        let mut now = pace.next() + Duration::from_secs(1);
        let mut rings = 0;
        let end = now + Duration::from_secs(1);
        while now < end {
            pace.rang(now);
            now = pace.next();
            rings += 1;
        }
        assert!((20..35).contains(&rings), "{rings} in a second");
        now += Duration::from_secs(1);
        pace.rang(now);
        assert_eq!(pace.next() - now, SHORTEST);
    }
}
