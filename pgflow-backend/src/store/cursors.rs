//! What claims remember of queues: how far they have looked where the first messages cannot be had, and which are busy.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_machine::permit::{Place, is_behind};

/// So long claims do not look again at what is between the front of a queue and where they found something, or so many times as long as
/// they took to come there: whatever is in front, most of the time is spent on what can be had.
const A_WHILE: Duration = Duration::from_secs(1);
const TIMES: u32 = 10;
/// But no longer: a walk takes longer than it need while nobody claims, and what is in front may have become free.
const A_LONG_WHILE: Duration = Duration::from_mins(1);

/// How far claims of this process have looked at queues that have more messages than one page, of which none can be had. The next
/// claim goes on there, and the one after the last begins again. Nothing depends on it but how soon a message is found. Queues of
/// which something could be had need no look before the next claim.
#[derive(Debug, Default)]
pub struct Cursors {
    places: Mutex<HashMap<String, Cursor>>,
    /// Queues of which the last claim could have something.
    busy: Mutex<HashSet<String>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    at: Place,
    state: State,
}

/// Moments are by the database's time.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Claims have found nothing since they began at the front.
    Walking { since: Timestamp },
    /// Claims have found something behind it since a moment. It counts for a while.
    Found { since: Timestamp, a_while: Duration },
}

impl Cursor {
    /// Where to go on; nowhere once all of them have to be looked at again, whatever is found here.
    pub(super) fn at(self, now: Timestamp) -> Option<Place> {
        let counts = match self.state {
            State::Walking { .. } => true,
            State::Found { since, a_while } => is_within(since, now, a_while),
        };
        counts.then_some(self.at)
    }
}

impl Cursors {
    /// Where to go on in this queue, besides at its front.
    pub(super) fn of(&self, need: &str) -> Option<Cursor> {
        self.lock().get(need).copied()
    }

    /// A claim that found nothing has come as far as this, or to the end.
    pub(super) fn set(&self, need: &str, seen: Option<Place>, now: Timestamp) {
        let mut cursors = self.lock();
        let Some(at) = seen else {
            cursors.remove(need);
            return;
        };
        let state = match cursors.get(need).map(|cursor| cursor.state) {
            Some(state @ State::Walking { .. }) => state,
            Some(State::Found { .. }) | None => State::Walking { since: now },
        };
        cursors.insert(need.to_owned(), Cursor { at, state });
    }

    /// A claim found something behind this: those that come soon need not look at what is before it.
    pub(super) fn found(&self, need: &str, at: Place, now: Timestamp) {
        let mut cursors = self.lock();
        let state = match cursors.get(need).map(|cursor| cursor.state) {
            Some(state @ State::Found { since, a_while }) if is_within(since, now, a_while) => {
                state
            }
            Some(State::Walking { since }) => {
                let a_while = (since.saturating_until(now) * TIMES).clamp(A_WHILE, A_LONG_WHILE);
                State::Found { since: now, a_while }
            }
            Some(State::Found { .. }) | None => State::Found { since: now, a_while: A_WHILE },
        };
        cursors.insert(need.to_owned(), Cursor { at, state });
    }

    /// Whether the last claim could have something: the next one need not look first.
    pub(super) fn is_busy(&self, need: &str) -> bool {
        lock(&self.busy).contains(need)
    }

    /// What the last look said of that.
    pub(super) fn set_busy(&self, need: &str, is_busy: bool) {
        let mut busy = lock(&self.busy);
        if is_busy {
            busy.insert(need.to_owned());
        } else {
            busy.remove(need);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Cursor>> {
        lock(&self.places)
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Not if the clock was set back, either.
fn is_within(since: Timestamp, now: Timestamp, a_while: Duration) -> bool {
    since <= now && since.saturating_until(now) < a_while
}

/// The one that comes later in a queue.
pub(super) fn later(one: Option<Place>, other: Option<Place>) -> Option<Place> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if is_behind(one, other) { one } else { other }),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_passed_over_is_looked_at_again_after_a_while() {
        let [start, soon, later] = [5_000_000, 5_400_000, 6_000_000].map(Timestamp::from_micros);
        let cursors = Cursors::default();
        cursors.found("q", (0, 7), start);
        cursors.found("q", (0, 9), soon);
        let at = |now| cursors.of("q").expect("it is there").at(now);
        assert_eq!(at(soon), Some((0, 9)));
        assert_eq!(at(later), None, "however much was found there meanwhile");
        cursors.found("q", (0, 9), later);
        assert_eq!(at(later), Some((0, 9)), "a while begins anew");
        assert_eq!(at(start), None, "the clock was set back");
        cursors.set("q", Some((0, 3)), later);
        assert_eq!(at(Timestamp::from_micros(i64::MAX)), Some((0, 3)), "nothing was found");
    }

    #[test]
    fn a_long_way_is_not_gone_again_soon() {
        let second = |at: i64| Timestamp::from_micros(at * 1_000_000);
        let cursors = Cursors::default();
        for at in 0..5 {
            cursors.set("q", Some((0, at)), second(at));
        }
        cursors.found("q", (0, 9), second(5));
        let at = |now| cursors.of("q").expect("it is there").at(now);
        cursors.found("q", (0, 11), second(40));
        assert_eq!(at(second(54)), Some((0, 11)), "five seconds of walking count for fifty");
        assert_eq!(at(second(55)), None, "however much was found there meanwhile");
        cursors.set("q", None, second(60));
        assert!(cursors.of("q").is_none(), "to the end, and from the front");
    }

    #[test]
    fn a_queue_is_busy_as_long_as_looks_find_something() {
        let cursors = Cursors::default();
        assert!(!cursors.is_busy("q"));
        cursors.set_busy("q", true);
        assert!(cursors.is_busy("q") && !cursors.is_busy("other"));
        cursors.set_busy("q", false);
        assert!(!cursors.is_busy("q"));
    }

    #[test]
    fn lower_priorities_and_greater_numbers_come_later() {
        assert_eq!(later(Some((5, 9)), Some((4, 1))), Some((4, 1)));
        assert_eq!(later(Some((5, 9)), Some((5, 1))), Some((5, 9)));
        assert_eq!(later(None, Some((5, 1))), Some((5, 1)));
    }
}
