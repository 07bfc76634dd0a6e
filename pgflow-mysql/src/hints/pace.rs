//! How often to look, and how often to ring.

use std::time::Duration;

use tokio::time::Instant;

/// Between two looks, by how long nothing has happened. Workers themselves look once a second, so an idle process asks
/// the server little more than that.
const LOOKS: &[(Duration, Duration)] = &[
    (Duration::from_secs(2), Duration::from_millis(10)),
    (Duration::from_secs(10), Duration::from_millis(200)),
];
/// After all those.
const IDLE: Duration = Duration::from_secs(10);
/// Between two rings: each is a commit.
const RINGS: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Pace {
    /// When something happened, here or elsewhere.
    stirred: Instant,
    looked: Instant,
    rang: Option<Instant>,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { stirred: now, looked: now, rang: None }
    }

    pub(super) fn stir(&mut self, now: Instant) {
        self.stirred = now;
    }

    pub(super) fn looked(&mut self, now: Instant) {
        self.looked = now;
    }

    pub(super) fn rang(&mut self, now: Instant) {
        (self.rang, self.looked) = (Some(now), now);
    }

    /// When to look next.
    pub(super) fn look(&self) -> Instant {
        let quiet = self.looked.duration_since(self.stirred);
        let found = LOOKS.iter().find(|(until, _)| quiet < *until);
        self.looked + found.map_or(IDLE, |(_, pause)| *pause)
    }

    /// When there may be another ring: the first one after a pause at once.
    pub(super) fn ring(&self) -> Instant {
        self.rang.map_or(self.looked, |rang| rang + RINGS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks in so many seconds after something happened.
    fn looks(seconds: u64) -> usize {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let mut looks = 0;
        while pace.look() < start + Duration::from_secs(seconds) {
            pace.looked(pace.look());
            looks += 1;
        }
        looks
    }

    #[test]
    fn looks_become_rare() {
        assert!((190..=200).contains(&looks(2)), "{}", looks(2));
        assert!((235..=242).contains(&looks(10)), "{}", looks(10));
        assert!(looks(70) - looks(10) <= 7, "{} in a minute", looks(70) - looks(10));
    }

    #[test]
    fn rings_do_not_follow_each_other_closely() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        assert_eq!(pace.ring(), start, "the first one at once");
        pace.rang(start);
        assert_eq!(pace.ring(), start + RINGS);
    }

    #[test]
    fn what_happens_makes_looks_frequent_again() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let later = start + Duration::from_mins(1);
        pace.looked(later);
        assert_eq!(pace.look(), later + IDLE);
        pace.stir(later);
        assert_eq!(pace.look(), later + LOOKS[0].1);
    }
}
