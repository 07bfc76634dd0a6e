//! How far claims have looked at queues whose first messages cannot be had.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A place in a queue: a priority, then a number.
pub(super) type Place = (i32, i64);

/// How far claims of this process have looked at queues that have more messages than one claim looks at, of which none can be had.
/// The next claim goes on there, and the one after the last begins again. Nothing depends on it but how soon a message is found.
#[derive(Debug, Default)]
pub struct Cursors(Mutex<HashMap<String, Place>>);

impl Cursors {
    /// Where to go on in this queue, besides at its front.
    pub(super) fn of(&self, need: &str) -> Option<Place> {
        self.lock().get(need).copied()
    }

    /// A claim that found nothing has come as far as this, or to the end.
    pub(super) fn set(&self, need: &str, seen: Option<Place>) {
        let mut cursors = self.lock();
        match seen {
            Some(seen) => drop(cursors.insert(need.to_owned(), seen)),
            None => drop(cursors.remove(need)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Place>> {
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
    fn lower_priorities_and_greater_numbers_come_later() {
        assert_eq!(later(Some((5, 9)), Some((4, 1))), Some((4, 1)));
        assert_eq!(later(Some((5, 9)), Some((5, 1))), Some((5, 9)));
        assert_eq!(later(None, Some((5, 1))), Some((5, 1)));
    }
}
