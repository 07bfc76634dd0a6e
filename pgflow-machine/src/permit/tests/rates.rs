use std::time::Duration;

use super::{Numbers, at};
use crate::permit::{Bucket, PermitProblem, Rate, place, place_of, priority_of};

const SECOND: i64 = 1_000_000;

/// Takes as much as it can at random moments, and looks at every window.
#[test]
fn no_window_has_more_than_rate_and_burst() {
    for (seed, amount, burst) in [(1, 60, 1), (2, 60, 10), (3, 7, 3), (4, 1, 1), (5, 1000, 50)] {
        let (mut numbers, mut now) = (Numbers(seed), 0);
        let mut bucket = Bucket::new(Rate::per_minute(amount).burst(burst));
        let mut taken: Vec<i64> = Vec::new();
        while now < 600 * SECOND {
            let tokens = bucket.available(at(now));
            bucket.take(at(now), tokens);
            taken.extend(std::iter::repeat_n(now, tokens as usize));
            now += i64::try_from(numbers.below(100_000)).expect("small");
        }
        for (first, since) in taken.iter().enumerate() {
            let in_window = taken[first..].iter().take_while(|at| **at < since + 60 * SECOND);
            let many = in_window.count();
            assert!(many <= (amount + burst) as usize, "{many} of {amount} and {burst}");
        }
        assert!(taken.len() >= (amount * 9) as usize, "and it is not slower: {}", taken.len());
    }
}

/// Whoever takes tokens keeps the others from them until it has what they are for.
#[test]
fn no_window_has_more_when_what_was_taken_is_had_late() {
    let (mut numbers, mut now) = (Numbers(6), 0);
    let mut bucket = Bucket::new(Rate::per_second(10).burst(5));
    let mut had: Vec<i64> = Vec::new();
    while now < 600 * SECOND {
        let (taken, tokens) = (at(now), bucket.available(at(now)));
        bucket.take(taken, tokens);
        now += i64::try_from(numbers.below(300_000)).expect("small");
        if tokens > 0 {
            bucket.had_late(taken, at(now));
        }
        had.extend(std::iter::repeat_n(now, tokens as usize));
    }
    for (first, since) in had.iter().enumerate() {
        let many = had[first..].iter().take_while(|at| **at < since + SECOND).count();
        assert!(many <= 15, "{many} in a second");
    }
}

#[test]
fn it_says_when_there_is_the_next() {
    for burst in 1..5 {
        let mut bucket = Bucket::new(Rate::per_second(3).burst(burst));
        bucket.take(at(0), burst);
        let next = bucket.next_at(at(0)).expect("not paused");
        assert_eq!(bucket.available(next), 1, "then");
        let before = crate::Timestamp::from_micros(next.micros() - 1);
        assert_eq!(bucket.available(before), 0, "and not before");
    }
}

#[test]
fn a_rate_of_nothing_is_a_pause() {
    let mut bucket = Bucket::new(Rate::per_second(0));
    assert_eq!((bucket.available(at(0)), bucket.next_at(at(0))), (0, None));
    bucket.set(Rate::per_second(5).burst(2), at(0));
    assert_eq!(bucket.available(at(0)), 2);
}

#[test]
fn a_new_rate_counts_at_once_and_a_declared_one_only_when_it_is_new() {
    let mut bucket = Bucket::new(Rate::per_hour(1));
    bucket.take(at(0), 1);
    bucket.set(Rate::per_second(10), at(1));
    assert_eq!(bucket.available(at(1 + 100_000)), 1, "an hour is not waited for");
    bucket.declare(Rate::per_hour(1), at(2));
    assert_eq!(bucket.rate, Rate::per_second(10), "somebody has set another");
    bucket.declare(Rate::per_minute(2), at(2));
    assert_eq!(bucket.rate, Rate::per_minute(2));
}

#[test]
fn a_lower_rate_in_between_gives_nothing_back() {
    let rate = Rate::per_minute(60).burst(60);
    for between in [vec![rate.burst(1)], vec![rate.burst(1), Rate::per_second(0)], vec![]] {
        let mut bucket = Bucket::new(rate);
        bucket.take(at(0), 60);
        for lower in &between {
            bucket.set(*lower, at(0));
        }
        bucket.set(rate, at(0));
        assert_eq!(bucket.available(at(0)), 0, "{between:?}");
        assert_eq!(bucket.available(at(3 * SECOND)), 3, "and no slower: {between:?}");
    }
    let mut unused = Bucket::new(rate);
    unused.set(rate.burst(10), at(0));
    unused.set(rate, at(0));
    assert_eq!(unused.available(at(0)), 10, "what it could have at once");
    let mut some = Bucket::new(rate);
    some.take(at(0), 20);
    some.set(Rate::per_second(10).burst(100), at(0));
    assert_eq!(some.available(at(0)), 40);
}

#[test]
fn rates_that_make_no_sense() {
    assert_eq!(Rate::per_second(1).burst(0).check(), Err(PermitProblem::NoBurst));
    assert_eq!(Rate::per_second(1_000_001).check(), Err(PermitProblem::TooFast));
    assert_eq!(Rate::per_second(1_000_000).check(), Ok(()));
    let slowest = r#"{"amount": 1, "period": 3155760000000001, "burst": 1}"#;
    let century: Rate = serde_json::from_str(slowest).expect("a rate");
    assert_eq!(century.check(), Err(PermitProblem::TooSlow));
    let mut fastest = Bucket::new(Rate::per_second(1_000_000).burst(u32::MAX));
    fastest.take(at(0), u32::MAX);
    assert_eq!(fastest.available(at(0)), 0);
    assert_eq!(fastest.available(at(0) + Duration::from_micros(7)), 7);
}

/// Others may have written it.
#[test]
fn a_period_that_is_longer_than_time() {
    let longest = r#"{"amount": 1, "period": 9000000000000000000, "burst": 9}"#;
    let mut bucket = Bucket::new(serde_json::from_str(longest).expect("a rate"));
    let now = at(0);
    bucket.take(now, 9);
    assert!(bucket.next_at(now).is_some_and(|next| next >= now));
    let _ = bucket.available(now);
}

#[test]
fn a_flood_of_one_key_does_not_keep_another_waiting() {
    let (mut flood, mut last) = (Vec::new(), None);
    for _ in 0..1000 {
        last = Some(place(0, last, None));
        flood.extend(last);
    }
    assert_eq!((flood[0], flood[999]), (1, 1000));
    assert_eq!(place(5, None, None), 6, "the next round, with 994 before it otherwise");
    assert_eq!(place(5, None, Some(40)), 40, "not before the last of what is served in order");
    for round in [0, 1, u32::MAX - 1, u32::MAX] {
        assert_eq!(place_of(priority_of(round)), round);
    }
    assert!(priority_of(1) > priority_of(2));
    assert_eq!(place(u32::MAX, None, None), u32::MAX, "there is no round after the last");
}
