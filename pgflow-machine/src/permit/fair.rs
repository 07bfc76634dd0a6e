//! Fairness by virtual time: each message gets a place when it is pushed, and claims go by places.
//!
//! A place is a round. A key that floods the queue is in each of the coming rounds once; another key's message joins the
//! next round, whatever is queued before it.

/// The place of a new message: the round after the queue's, or after the last one of its key. With a key that is served in
/// order, not before the last of that.
pub fn place(round: u32, last: Option<u32>, not_before: Option<u32>) -> u32 {
    let next = round.max(last.unwrap_or_default()).saturating_add(1);
    next.max(not_before.unwrap_or_default())
}

/// The priority of a job at a place, so that claims go by places. There are 2³² of them; whatever comes later goes by when it
/// was pushed.
pub fn priority_of(place: u32) -> i32 {
    let priority = i64::from(i32::MAX) - i64::from(place);
    i32::try_from(priority).unwrap_or(i32::MIN)
}

/// The place of a job of this priority.
pub fn place_of(priority: i32) -> u32 {
    let place = i64::from(i32::MAX) - i64::from(priority);
    u32::try_from(place).unwrap_or(u32::MAX)
}
