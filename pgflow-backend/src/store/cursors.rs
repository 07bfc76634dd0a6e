//! How far claims have looked at queues whose first messages cannot be had.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A place in a queue: a priority, then a number.
pub(super) type Place = (i32, i64);

/// So long claims do not look again at what is between the front of a queue and where they found something.
const A_WHILE: Duration = Duration::from_secs(1);

/// How far claims of this process have looked at queues that have more messages than one page, of which none can be had. The next
/// claim goes on there, and the one after the last begins again. Nothing depends on it but how soon a message is found.
#[derive(Debug, Default)]
pub struct Cursors(Mutex<HashMap<String, Cursor>>);

#[derive(Clone, Copy, Debug)]
struct Cursor {
    at: Place,
    /// When it is looked at all of them again, whatever is found here.
    until: Option<Instant>,
}

impl Cursors {
    /// Where to go on in this queue, besides at its front.
    pub(super) fn of(&self, need: &str) -> Option<Place> {
        let mut cursors = self.lock();
        let cursor = *cursors.get(need)?;
        if cursor.until.is_some_and(|until| until <= Instant::now()) {
            cursors.remove(need);
            return None;
        }
        Some(cursor.at)
    }

    /// A claim that found nothing has come as far as this, or to the end.
    pub(super) fn set(&self, need: &str, seen: Option<Place>) {
        let mut cursors = self.lock();
        match seen {
            Some(at) => drop(cursors.insert(need.to_owned(), Cursor { at, until: None })),
            None => drop(cursors.remove(need)),
        }
    }

    /// A claim found something behind this: those that come soon need not look at what is before it.
    pub(super) fn found(&self, need: &str, at: Place) {
        let mut cursors = self.lock();
        let until = cursors.get(need).and_then(|cursor| cursor.until);
        let until = Some(until.unwrap_or_else(|| Instant::now() + A_WHILE));
        cursors.insert(need.to_owned(), Cursor { at, until });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Cursor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one that comes later in a queue.
pub(super) fn later(one: Option<Place>, other: Option<Place>) -> Option<Place> {
    let key = |(priority, seq): &Place| (-i64::from(*priority), *seq);
    one.into_iter().chain(other).max_by_key(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_passed_over_is_looked_at_again_after_a_while() {
        let cursors = Cursors::default();
        cursors.found("q", (0, 7));
        let until = cursors.lock()["q"].until;
        cursors.found("q", (0, 9));
        assert_eq!(cursors.of("q"), Some((0, 9)));
        assert_eq!(cursors.lock()["q"].until, until, "however much is found there");
        cursors.lock().get_mut("q").expect("it is there").until = Some(Instant::now());
        assert_eq!(cursors.of("q"), None);
        cursors.set("q", Some((0, 3)));
        assert_eq!((cursors.of("q"), cursors.lock()["q"].until), (Some((0, 3)), None));
    }

    #[test]
    fn lower_priorities_and_greater_numbers_come_later() {
        assert_eq!(later(Some((5, 9)), Some((4, 1))), Some((4, 1)));
        assert_eq!(later(Some((5, 9)), Some((5, 1))), Some((5, 9)));
        assert_eq!(later(None, Some((5, 1))), Some((5, 1)));
    }
}
