//! Which tasks a claim hands out.
//!
//! Flows take turns, so that what has piled up in one of them does not stand before all others, and of each flow what
//! has been ready longest comes first. So that a wide map does not stand before everything that comes after
//! it, its tasks behind the first few go to a lane of their own, the bulk lane, a century back in time. A
//! claim takes of it what the others leave, and a quarter in any case.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::Timestamp;

/// Tasks of a map from this index on are bulk.
pub const BULK_FROM: u32 = 16;

/// How far back in time the bulk lane begins, and where it ends.
pub(crate) const BULK: Duration = Duration::from_hours(876_000);
pub(crate) const BULK_END: Duration = Duration::from_hours(438_000);

/// What a newer map is ahead per element: it catches up with an older one.
const AHEAD: Duration = Duration::from_secs(1);

/// What a claim hands out at once, unless it is one task.
pub(crate) const CLAIM_BYTES: usize = 64_000_000;

/// What a task may be given: the largest output of a map and the largest input of a run, or as much otherwise.
pub(crate) const INPUT_BYTES: usize = 264_000_000;

/// When a new task may be claimed; its place in the queue.
///
/// ```
/// use pgflow_machine::{BULK_FROM, Timestamp, bulk_until, ready_at};
/// use std::time::Duration;
///
/// let now = Timestamp::from_micros(1_800_000_000_000_000);
/// let at_once = Duration::ZERO;
/// assert_eq!(ready_at(now, at_once, 0), now);
/// assert!(ready_at(now, at_once, BULK_FROM) <= bulk_until(now));
/// assert!(ready_at(now, Duration::from_secs(5), BULK_FROM) > now, "a delay has to be kept");
/// ```
pub fn ready_at(now: Timestamp, delay: Duration, index: u32) -> Timestamp {
    if delay.is_zero() && index >= BULK_FROM {
        return back(now, BULK) + AHEAD * index;
    }
    now + delay
}

/// When the tasks of a step are ready, as [`ready_at`] says, for stores that queue all of them with one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Those before number [`BULK_FROM`].
    pub first: Timestamp,
    /// Number [`BULK_FROM`].
    pub bulk: Timestamp,
    /// What each is later than the one before it, from there on, in microseconds.
    pub ahead: i64,
}

impl Places {
    /// Of tasks that are queued now, with a delay.
    pub fn new(now: Timestamp, delay: Duration) -> Self {
        let [first, bulk, next] =
            [0, BULK_FROM, BULK_FROM + 1].map(|index| ready_at(now, delay, index));
        Self { first, bulk, ahead: next.micros() - bulk.micros() }
    }
}

/// What is added, in microseconds, to the moment at which a task of a wide map is ready, so that it is bulk: so much, and
/// so much per its index. One that was delayed or tried before waits for its moment like any other; when a whole map
/// does so, what comes after it would wait for all of it.
///
/// ```
/// use pgflow_machine::{BULK_FROM, Timestamp, bulk_until, ready_at, to_bulk};
///
/// let now = Timestamp::from_micros(1_800_000_000_000_000);
/// let (back, ahead) = to_bulk();
/// let place = now.micros() + back + i64::from(BULK_FROM) * ahead;
/// assert_eq!(place, ready_at(now, Default::default(), BULK_FROM).micros());
/// ```
pub fn to_bulk() -> (i64, i64) {
    let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    (-micros(BULK), micros(AHEAD))
}

/// What was ready at this moment or before is bulk.
pub fn bulk_until(now: Timestamp) -> Timestamp {
    back(now, BULK_END)
}

/// How many of `max` tasks are bulk in any case, in the `nth` claim: a quarter, over a few claims.
pub fn bulk_share(max: u32, nth: u32) -> u32 {
    max / 4 + u32::from(max % 4 > nth % 4)
}

/// Which of `flows` that have something to do comes first, in the `nth` claim: each as often, in no order that the
/// turns of bulk could go along with.
fn first_of(flows: usize, nth: u32) -> usize {
    let mixed = nth.wrapping_mul(0x9e37_79b9) >> 16;
    usize::try_from(mixed).unwrap_or_default() % flows.max(1)
}

fn back(now: Timestamp, by: Duration) -> Timestamp {
    let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.micros().saturating_sub(micros))
}

/// A task that may be claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready<T> {
    /// The task.
    pub task: T,
    /// Which of the queues in [`Room::quotas`] it is in.
    pub queue: usize,
    /// Since when.
    pub ready_at: Timestamp,
}

/// What a worker has room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Tasks at most.
    pub max: u32,
    /// Tasks of each queue at most.
    pub quotas: Vec<u32>,
    /// Which flow each queue is of: these take turns.
    pub flows: Vec<i64>,
    /// Which claim it is: a share of it is bulk if there is any, see [`bulk_share`], and flows come first in turn.
    pub nth: u32,
}

impl Room {
    fn bulk(&self) -> usize {
        usize::try_from(bulk_share(self.max, self.nth)).unwrap_or(usize::MAX)
    }

    /// Tasks that are ready, in the order in which they are taken.
    fn in_order<T>(&self, mut ready: Vec<Ready<T>>) -> Vec<Ready<T>> {
        ready.sort_by_key(|task| task.ready_at);
        let flow = |task: &Ready<T>| self.flows.get(task.queue).copied().unwrap_or_default();
        let mut seen: BTreeMap<i64, usize> = ready.iter().map(|task| (flow(task), 0)).collect();
        if seen.len() < 2 {
            return ready;
        }
        let flows: Vec<i64> = seen.keys().copied().collect();
        let first = first_of(flows.len(), self.nth);
        let place = |task: Ready<T>| {
            let flow = flow(&task);
            let round = seen.entry(flow).or_default();
            *round += 1;
            let number = flows.binary_search(&flow).unwrap_or_default();
            ((*round, (number + flows.len() - first) % flows.len()), task)
        };
        let mut placed: Vec<_> = ready.into_iter().map(place).collect();
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, task)| task).collect()
    }
}

/// What a claim hands out.
///
/// ```
/// use pgflow_machine::{Choice, Ready, Room, Timestamp, ready_at};
///
/// let now = Timestamp::from_micros(1_800_000_000_000_000);
/// let of_map = (16..1_000).map(|n| Ready { task: n, queue: 0, ready_at: ready_at(now, Default::default(), n) });
/// let small = Ready { task: 7_777, queue: 1, ready_at: now };
/// let room = Room { max: 20, quotas: vec![20; 2], flows: vec![1, 1], nth: 0 };
/// let choice = Choice::new(of_map.chain([small]).collect(), now, room, |_| 100);
/// assert_eq!(choice.tasks.len(), 20);
/// assert!(choice.tasks.contains(&7_777), "it need not wait for a thousand others");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice<T> {
    /// To be handed out.
    pub tasks: Vec<T>,
    /// Too large for anybody to be given: to be claimed and failed with [`input_too_large`].
    pub oversized: Vec<T>,
}

impl<T> Choice<T> {
    /// Chooses among tasks that are ready; `bytes` says how large a task's input is.
    pub fn new(
        ready: Vec<Ready<T>>,
        now: Timestamp,
        room: Room,
        bytes: impl Fn(&T) -> usize,
    ) -> Self {
        let edge = bulk_until(now);
        let (bulk, turn): (Vec<_>, Vec<_>) =
            ready.into_iter().partition(|task| task.ready_at <= edge);
        let (bulk, turn, share) = (room.in_order(bulk), room.in_order(turn), room.bulk());
        let mut bulk = bulk.into_iter();
        let mut picking = Picking { room, bytes, weight: 0, is_full: false, choice: Self::none() };
        bulk.by_ref().take(share).for_each(|task| picking.offer(task));
        turn.into_iter().chain(bulk).for_each(|task| picking.offer(task));
        picking.choice
    }

    fn none() -> Self {
        Self { tasks: Vec::new(), oversized: Vec::new() }
    }
}

/// A choice being made.
struct Picking<T, B> {
    room: Room,
    bytes: B,
    weight: usize,
    is_full: bool,
    choice: Choice<T>,
}

impl<T, B: Fn(&T) -> usize> Picking<T, B> {
    fn offer(&mut self, ready: Ready<T>) {
        let quota = self.room.quotas.get_mut(ready.queue).filter(|quota| **quota > 0);
        let Some(quota) = quota.filter(|_| self.room.max > 0 && !self.is_full) else { return };
        let bytes = (self.bytes)(&ready.task);
        if bytes > INPUT_BYTES {
            self.choice.oversized.push(ready.task);
            return;
        }
        // What comes after the first that does not fit waits too: it would overtake for ever.
        self.is_full = self.weight > 0 && self.weight + bytes > CLAIM_BYTES;
        if !self.is_full {
            self.weight += bytes;
            self.room.max -= 1;
            *quota -= 1;
            self.choice.tasks.push(ready.task);
        }
    }
}

/// The error of a step whose input is too large for any worker.
pub fn input_too_large(step: &str) -> String {
    format!("Input too large: what step {step} is given has more than {INPUT_BYTES} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn room(max: u32) -> Room {
        Room { max, quotas: vec![max], flows: vec![1], nth: 0 }
    }

    fn since(seconds: u64, task: u32) -> Ready<u32> {
        Ready { task, queue: 0, ready_at: back(NOW, Duration::from_secs(seconds)) }
    }

    #[test]
    fn the_oldest_come_first() {
        let ready = vec![since(1, 1), since(3, 3), since(2, 2)];
        assert_eq!(Choice::new(ready, NOW, room(2), |_| 0).tasks, [3, 2]);
    }

    /// Two flows with much to do and one with little, which are the lanes 0, 1 to 2 and 3.
    fn of_three_flows(max: u32, nth: u32) -> Vec<u32> {
        let old = (0..100).map(|n| since(500 - u64::from(n), n));
        let newer =
            (100..200).map(|n| Ready { queue: 1 + n as usize % 2, ..since(200 - u64::from(n), n) });
        let newest = Ready { queue: 3, ..since(0, 1_000) };
        let room = Room { max, quotas: vec![max; 4], flows: vec![7, 8, 8, 9], nth };
        Choice::new(old.chain(newer).chain([newest]).collect(), NOW, room, |_| 0).tasks
    }

    #[test]
    fn flows_take_turns() {
        let mut choice = of_three_flows(7, 0);
        choice.sort_unstable();
        assert_eq!(choice, [0, 1, 2, 100, 101, 102, 1_000], "the oldest of each");
    }

    #[test]
    fn flows_take_turns_also_in_claims_for_one() {
        for stride in [1, 4] {
            let firsts = (0..300).flat_map(|nth| of_three_flows(1, nth * stride));
            let mut times = BTreeMap::new();
            firsts.for_each(|task| *times.entry(task).or_insert(0) += 1);
            assert!(times.len() == 3 && times.values().all(|times| *times > 60), "{times:?}");
        }
    }

    #[test]
    fn bulk_goes_on_behind_any_number_of_others() {
        let bulk = (16..20).map(|n| Ready {
            task: n,
            queue: 0,
            ready_at: ready_at(NOW, Duration::ZERO, n),
        });
        let ready: Vec<_> = (100..200).map(|n| since(5, n)).chain(bulk).collect();
        let choice = Choice::new(ready, NOW, room(8), |_| 0);
        assert_eq!(choice.tasks, [16, 17, 100, 101, 102, 103, 104, 105]);
    }

    #[test]
    fn a_quarter_is_bulk_also_of_claims_for_few() {
        for max in 1..9 {
            assert_eq!((0..4).map(|nth| bulk_share(max, nth)).sum::<u32>(), max);
        }
    }

    #[test]
    fn bytes_are_bounded_and_one_task_always_goes() {
        let ready: Vec<_> = (0..40).map(|n| since(60 - u64::from(n), n)).collect();
        let choice = Choice::new(ready.clone(), NOW, room(40), |_| 4_000_000);
        assert_eq!(choice.tasks, (0..16).collect::<Vec<_>>());
        let choice = Choice::new(ready, NOW, room(40), |_| 200_000_000);
        assert_eq!(choice.tasks, [0]);
    }

    #[test]
    fn what_nobody_can_be_given_does_not_stand_before_others() {
        let size = |task: &u32| if *task == 0 { INPUT_BYTES + 1 } else { 1 };
        let choice = Choice::new(vec![since(2, 0), since(1, 1)], NOW, room(5), size);
        assert_eq!(choice, Choice { tasks: vec![1], oversized: vec![0] });
    }
}
