use std::time::Duration;

use super::{Numbers, at, waiting};
use crate::permit::{BatchRule, Formed, PermitProblem, Trigger, form};

const RULE: BatchRule = BatchRule { len: 4, bytes: Some(100), wait: Duration::from_micros(50) };

fn ripe(messages: usize, trigger: Trigger) -> Formed {
    Formed::Ripe { messages, trigger }
}

#[test]
fn a_batch_is_ripe_for_one_of_four_reasons() {
    let of = |sizes: &[u64], now, drains| {
        let group: Vec<_> = sizes.iter().map(|bytes| waiting("a", 0, *bytes)).collect();
        form(&RULE, &group, at(now), drains)
    };
    assert_eq!(of(&[], 99, true), Formed::Nothing);
    assert_eq!(of(&[1; 3], 0, false), Formed::Later(at(50)));
    assert_eq!(of(&[1; 4], 0, false), ripe(4, Trigger::Size));
    assert_eq!(of(&[1; 9], 0, false), ripe(4, Trigger::Size));
    assert_eq!(of(&[60, 60, 1], 0, false), ripe(1, Trigger::Bytes), "the second does not fit");
    assert_eq!(of(&[60, 40], 0, false), ripe(2, Trigger::Bytes), "it is full");
    assert_eq!(of(&[101], 0, false), ripe(1, Trigger::Bytes), "a large one goes alone");
    assert_eq!(of(&[500, 1], 0, false), ripe(1, Trigger::Bytes));
    assert_eq!(of(&[1, 500], 0, false), ripe(1, Trigger::Bytes));
    assert_eq!(of(&[1], 49, false), Formed::Later(at(50)));
    assert_eq!(of(&[1], 50, false), ripe(1, Trigger::Timeout));
    assert_eq!(of(&[1], 0, true), ripe(1, Trigger::Drain));
}

#[test]
fn the_oldest_decides_wherever_it_stands() {
    let group = [waiting("new", 40, 1), waiting("old", 0, 1)];
    assert_eq!(form(&RULE, &group, at(49), false), Formed::Later(at(50)));
    assert_eq!(form(&RULE, &group, at(50), false), ripe(2, Trigger::Timeout));
}

/// Random arrivals, looked at at random moments: no batch is both short and young, and none is too large.
#[test]
fn never_both_short_and_young() {
    let mut numbers = Numbers(7);
    for _ in 0..20_000 {
        let rule = BatchRule {
            len: u32::try_from(1 + numbers.below(5)).expect("small"),
            bytes: (numbers.below(2) == 0).then(|| 1 + numbers.below(60)),
            wait: Duration::from_micros(numbers.below(60)),
        };
        let message = |numbers: &mut Numbers| {
            waiting("a", i64::try_from(numbers.below(100)).expect("small"), numbers.below(40))
        };
        let group: Vec<_> = (0..numbers.below(9)).map(|_| message(&mut numbers)).collect();
        match form(&rule, &group, at(100), false) {
            Formed::Nothing => assert!(group.is_empty()),
            Formed::Later(moment) => assert!(moment > at(100)),
            Formed::Ripe { messages, .. } => {
                let batch = &group[..messages];
                let bytes: u64 = batch.iter().map(|waiting| waiting.bytes).sum();
                let most = rule.bytes.unwrap_or(u64::MAX);
                assert!(messages == 1 || bytes <= most, "too heavy");
                assert!((1..=rule.len as usize).contains(&messages));
                let next = group.get(messages).map_or(0, |next| next.bytes);
                let is_short = messages < rule.len as usize && bytes + next <= most && bytes < most;
                let oldest = batch.iter().map(|waiting| waiting.since).min().expect("one");
                assert!(!(is_short && oldest + rule.wait > at(100)), "{rule:?} {group:?}");
            }
        }
    }
}

#[test]
fn rules_that_make_no_sense() {
    assert_eq!(BatchRule { len: 0, ..RULE }.check(), Err(PermitProblem::EmptyBatch));
    let most = BatchRule::MOST;
    assert_eq!(BatchRule { len: most, ..RULE }.check(), Ok(()));
    let longer = BatchRule { len: most + 1, ..RULE }.check();
    assert_eq!(longer, Err(PermitProblem::LongBatch(most + 1)));
    assert_eq!(BatchRule { bytes: Some(0), ..RULE }.check(), Err(PermitProblem::NoBytes));
    assert_eq!(BatchRule { wait: Duration::ZERO, ..RULE }.check(), Ok(()));
}
