use std::collections::BTreeMap;
use std::time::Duration;

use super::{at, waiting};
use crate::job::JobId;
use crate::permit::{
    BatchRule, Bucket, Grants, Plan, Planner, Rate, Resource, Rooms, Stage, Trigger, Units, Waiting,
};

fn units(of: &[(&str, u32)]) -> Units {
    of.iter().map(|(slug, units)| ((*slug).to_owned(), *units)).collect()
}

fn rooms(of: &[(&str, u32, u32)]) -> Rooms {
    let resource = |capacity| Resource::of(capacity, None);
    let all = of.iter().map(|(slug, capacity, _)| ((*slug).to_owned(), resource(*capacity)));
    Rooms::new(all.collect(), of.iter().map(|(slug, _, held)| ((*slug).to_owned(), *held)))
}

fn plan(stage: &Stage, max: u32, rooms: Rooms, rates: &[Rate], page: Vec<Waiting>) -> Plan {
    let buckets = rates.iter().enumerate().map(|(at, rate)| (at.to_string(), Bucket::new(*rate)));
    let mut planner = Planner::new(stage, max, at(0), rooms, buckets.collect());
    planner.look(page);
    planner.done()
}

fn names(plan: &Plan) -> Vec<Vec<&str>> {
    plan.picks.iter().map(|pick| pick.jobs.iter().map(JobId::as_str).collect()).collect()
}

#[test]
fn all_or_nothing_with_a_fence_that_grows() {
    let mut rooms = rooms(&[("cpu", 2, 0), ("gpu", 1, 0)]);
    let both = units(&[("cpu", 1), ("gpu", 1)]);
    assert_eq!(rooms.take(&both), Some([("cpu".into(), 1), ("gpu".into(), 1)].into()));
    assert_eq!(rooms.take(&both), None, "no gpu is left");
    assert_eq!(rooms.take(&units(&[("cpu", 1)])), Some([("cpu".into(), 2)].into()), "a cpu is");
    assert!(!rooms.fit(&units(&[("GPU", 1)])), "what is not there cannot be had");
}

#[test]
fn less_capacity_than_is_held_is_none() {
    let mut rooms = rooms(&[("gpu", 1, 3)]);
    assert_eq!(rooms.take(&units(&[("gpu", 1)])), None);
}

#[test]
fn a_full_resource_does_not_keep_others_waiting() {
    let needs = |name, slug| Waiting { resources: units(&[(slug, 1)]), ..waiting(name, 0, 1) };
    let page = vec![needs("a", "full"), waiting("b", 0, 1), needs("c", "full"), needs("d", "free")];
    let taken = plan(&Stage::default(), 9, rooms(&[("full", 1, 1), ("free", 1, 0)]), &[], page);
    assert_eq!(names(&taken), [["b"], ["d"]]);
    assert_eq!(taken.picks[1].fences, BTreeMap::from([("free".to_owned(), 1)]));
}

#[test]
fn rates_leave_room_for_as_many_as_the_slowest_has() {
    let page = (0..9).map(|at| waiting(&format!("{at}"), at, 1)).collect::<Vec<_>>();
    let rates = [Rate::per_second(1).burst(5), Rate::per_second(10).burst(2)];
    let taken = plan(&Stage::default(), 9, Rooms::default(), &rates, page.clone());
    assert_eq!(names(&taken), [["0"], ["1"]]);
    assert_eq!(taken.next, Some(at(100_000)));
    assert_eq!(taken.left(2, at(0), at(0))["0"].available(at(0)), 3);
    assert_eq!(taken.left(1, at(0), at(0))["0"].available(at(0)), 4, "for what was had");
    let paused = [Rate::per_second(0), Rate::per_second(10)];
    let taken = plan(&Stage::default(), 9, Rooms::default(), &paused, page);
    assert!(taken.picks.is_empty() && taken.next.is_none());
}

#[test]
fn what_blocks_its_key_is_passed_over_until_then() {
    let later = Waiting { not_before: Some(at(70)), ..waiting("a", 0, 1) };
    let taken = plan(&Stage::default(), 9, Rooms::default(), &[], vec![later, waiting("b", 0, 1)]);
    assert_eq!((names(&taken), taken.next), (vec![vec!["b"]], Some(at(70))));
}

#[test]
fn batches_are_of_one_key_and_the_longest_wait_goes_first() {
    let rule = BatchRule { len: 2, bytes: None, wait: Duration::from_micros(50) };
    let stage = Stage { batch: Some(rule), ..Stage::default() };
    let of = |name: &str, key: &str, since| Waiting {
        batch_key: Some(key.to_owned()),
        ..waiting(name, since, 1)
    };
    let page = vec![
        of("a1", "a", -9),
        of("b1", "b", -99),
        of("c1", "c", -40),
        of("a2", "a", 0),
        of("a3", "a", 0),
    ];
    let taken = plan(&stage, 9, Rooms::default(), &[], page.clone());
    assert_eq!(names(&taken), [vec!["b1"], vec!["a1", "a2"]]);
    let triggers: Vec<_> = taken.picks.iter().filter_map(|pick| pick.trigger).collect();
    assert_eq!(triggers, [Trigger::Timeout, Trigger::Size]);
    assert_eq!((taken.picks[0].since, taken.next), (at(-99), Some(at(10))));
    let taken = plan(&stage, 1, Rooms::default(), &[], page.clone());
    assert_eq!(names(&taken), [["b1"]], "there is room for one attempt");
    let gpu = Stage { resources: units(&[("gpu", 1)]), ..stage.clone() };
    let taken = plan(&gpu, 9, rooms(&[("gpu", 1, 0)]), &[], page.clone());
    assert_eq!(names(&taken), [["b1"]], "a batch holds a unit, not each message");
    let drains = Stage { drains: true, ..stage };
    assert_eq!(plan(&drains, 9, Rooms::default(), &[], page).picks.len(), 4, "nothing is left");
}

#[test]
fn units_of_messages_are_added_to_those_of_the_stage() {
    let of = |name, many| Waiting { resources: units(&[("gpu", many)]), ..waiting(name, 0, 1) };
    let stage = Stage { resources: units(&[("gpu", 1)]), ..Stage::default() };
    let page = vec![of("none", 0), of("too many", u32::MAX), of("one", 1)];
    let taken = plan(&stage, 9, rooms(&[("gpu", 3, 0)]), &[], page.clone());
    assert_eq!(names(&taken), [["none"], ["one"]]);
    let free = plan(&Stage::default(), 9, rooms(&[("gpu", 1, 0)]), &[], page);
    assert!(free.picks[0].units.is_empty(), "no units are nothing to hold");
    let rule = BatchRule { len: 2, bytes: None, wait: Duration::ZERO };
    let batched = Stage { batch: Some(rule), ..stage };
    let taken = plan(&batched, 9, rooms(&[("gpu", 3, 0)]), &[], vec![of("a", 1), of("b", 2)]);
    assert_eq!(taken.picks[0].units, units(&[("gpu", 3)]), "what the greediest of it needs");
}

/// An idle queue is waited for, not its rate.
#[test]
fn tokens_that_are_left_are_no_reason_to_look_again() {
    let rates = [Rate::per_second(1).burst(5)];
    let taken = plan(&Stage::default(), 9, Rooms::default(), &rates, vec![waiting("a", 0, 1)]);
    assert_eq!((names(&taken), taken.next), (vec![vec!["a"]], None));
    assert_eq!(taken.left(1, at(0), at(0))["0"].available(at(0)), 4, "one is taken");
}

/// It asks for no more pages, of which each has to be measured.
#[test]
fn a_claim_that_is_full_by_bytes_sees_no_more() {
    const MB: u64 = 1_000_000;
    let is_full = |rule: BatchRule, max, messages: &[(&str, u64)]| {
        let stage = Stage { batch: Some(rule), ..Stage::default() };
        let mut planner = Planner::new(&stage, max, at(0), Rooms::default(), BTreeMap::new());
        let of = |(key, bytes): &(&str, u64)| Waiting {
            batch_key: Some((*key).to_owned()),
            ..waiting(key, 0, *bytes)
        };
        planner.look(messages.iter().map(of).collect());
        let is_full = planner.is_full();
        let picks = planner.done().picks;
        assert!(!is_full || picks.len() == max as usize || messages.len() > 60, "{picks:?}");
        is_full
    };
    let rule = BatchRule { len: 10_000, bytes: Some(MB), wait: Duration::from_secs(9) };
    assert!(is_full(rule, 1, &[("a", MB)]), "one of full size");
    assert!(is_full(rule, 1, &[("a", MB / 2), ("a", MB)]), "the next one does not fit");
    assert!(!is_full(rule, 2, &[("a", MB / 2), ("a", MB / 3), ("b", MB)]));
    assert!(is_full(rule, 2, &[("a", MB), ("b", MB / 2), ("b", MB / 2)]));
    let short = BatchRule { len: 2, ..rule };
    assert!(!is_full(short, 2, &[("a", 1), ("a", 1), ("a", 1)]));
    assert!(is_full(short, 2, &[("a", 1), ("a", 1), ("a", 1), ("a", 1)]));
    assert!(!is_full(rule, 999, &[("a", MB); 63]));
    assert!(is_full(rule, 999, &[("a", MB); 64]), "no claim hands out more");
}

#[test]
fn a_claim_is_bounded_in_bytes() {
    const MB: u64 = 1_000_000;
    let sized = |name: &str, bytes| waiting(name, 0, bytes);
    let page = vec![sized("a", 30 * MB), sized("b", 30 * MB), sized("c", 30 * MB), sized("d", 1)];
    let taken = plan(&Stage::default(), 9, Rooms::default(), &[], page);
    assert_eq!(names(&taken), [["a"], ["b"]], "nobody overtakes what does not fit");
    assert_eq!(taken.next, Some(at(0)), "the rest is for the next claim, at once");
    let page = vec![sized("a", 99 * MB), sized("b", 1)];
    let taken = plan(&Stage::default(), 9, Rooms::default(), &[], page);
    assert_eq!(names(&taken), [["a"]], "one in any case");
}

#[test]
fn a_batch_over_the_bound_of_a_claim_is_smaller() {
    const MB: u64 = 1_000_000;
    let rule = BatchRule { len: 9, bytes: None, wait: Duration::from_secs(1) };
    let stage = Stage { batch: Some(rule), ..Stage::default() };
    let page: Vec<_> = ["a", "b", "c", "d", "e"].map(|name| waiting(name, 0, 30 * MB)).into();
    let taken = plan(&stage, 9, Rooms::default(), &[], page);
    assert_eq!(names(&taken), [["a", "b"]], "the second batch is for the next claim");
    assert_eq!(taken.picks[0].trigger, Some(Trigger::Bytes));
    assert_eq!(taken.next, Some(at(0)));
}

#[test]
fn attempts_that_take_the_same_share_what_is_left() {
    let stage = Stage {
        resources: units(&[("cpu", 2), ("gpu", 1)]),
        rates: vec!["0".to_owned()],
        ..Stage::default()
    };
    let rate = |rate| BTreeMap::from([("0".to_owned(), Bucket::new(rate))]);
    let grants = |cpu, gpu, burst| {
        let rooms = rooms(&[("cpu", cpu, 1), ("gpu", gpu, 0)]);
        Grants::new(&stage, at(0), rooms, rate(Rate::per_second(1).burst(burst)))
    };
    assert_eq!(grants(6, 9, 9).room(9), 2, "five are left, and each takes two");
    assert_eq!(grants(9, 3, 9).room(9), 3);
    assert_eq!(grants(9, 9, 2).room(9), 2, "two tokens");
    assert_eq!((grants(99, 99, 99).room(9), grants(0, 9, 9).room(9)), (9, 0));
    let mut few = grants(99, 99, 2);
    assert!(few.take().is_some() && few.take().is_some());
    assert_eq!((few.take(), few.next()), (None, Some(at(1_000_000))), "the bucket is empty");
    let paused = Grants::new(&stage, at(0), rooms(&[]), rate(Rate::per_second(0)));
    assert_eq!((paused.room(9), paused.next()), (0, None));
}

/// With its neighbours it would take them along: one at a time, and no other while one is worked on.
#[test]
fn what_was_lost_with_its_worker_goes_alone() {
    let lost = |name, since| Waiting { streak: 1, ..waiting(name, since, 1) };
    let one_by_one = Stage::default();
    let page = || {
        vec![lost("a", -99), waiting("b", 0, 1), lost("c", -99), waiting("d", 0, 1), lost("e", 0)]
    };
    assert_eq!(names(&plan(&one_by_one, 9, Rooms::default(), &[], page())), [["a"], ["b"], ["d"]]);
    let has_lost = Stage { has_lost: true, ..one_by_one };
    assert_eq!(names(&plan(&has_lost, 9, Rooms::default(), &[], page())), [["b"], ["d"]]);
    let rule = BatchRule { len: 2, bytes: None, wait: Duration::from_micros(50) };
    let batched = Stage { batch: Some(rule), ..Stage::default() };
    let taken = plan(&batched, 9, Rooms::default(), &[], page());
    assert_eq!(names(&taken), [vec!["a"], vec!["b", "d"]]);
    assert_eq!(taken.picks[0].trigger, Some(Trigger::Timeout), "short, and not young");
    let has_lost = Stage { has_lost: true, ..batched.clone() };
    assert_eq!(names(&plan(&has_lost, 9, Rooms::default(), &[], page())), [["b", "d"]]);
    let young = plan(&batched, 9, Rooms::default(), &[], vec![lost("e", 0), waiting("f", 0, 1)]);
    assert_eq!((young.picks.len(), young.next), (0, Some(at(50))));
}

/// What it needs is not there: those of its group that need something else are a batch without it.
#[test]
fn a_full_resource_keeps_no_batch_waiting() {
    let rule = BatchRule { len: 2, bytes: None, wait: Duration::from_micros(50) };
    let stage = Stage { batch: Some(rule), ..Stage::default() };
    let of = |name, slug| Waiting { resources: units(&[(slug, 1)]), ..waiting(name, 0, 1) };
    let page = vec![of("a1", "a"), of("b1", "b"), of("b2", "b"), of("c1", "c"), waiting("n", 0, 1)];
    let free = rooms(&[("a", 1, 1), ("b", 1, 0), ("c", 1, 0)]);
    let taken = plan(&stage, 9, free, &[], page);
    assert_eq!(names(&taken), [["b1", "b2"], ["c1", "n"]]);
    // The first batch takes what one of the second needs.
    let keyed =
        |name, key: &str, slug| Waiting { batch_key: Some(key.to_owned()), ..of(name, slug) };
    let page = vec![
        keyed("x1", "x", "b"),
        keyed("x2", "x", "b"),
        keyed("y1", "y", "b"),
        keyed("y2", "y", "c"),
        keyed("y3", "y", "c"),
    ];
    let taken = plan(&stage, 9, rooms(&[("b", 1, 0), ("c", 1, 0)]), &[], page);
    assert_eq!(names(&taken), [["x1", "x2"], ["y2", "y3"]]);
}

/// Of keys that are scattered, the rest is looked for; and no more than is wanted.
#[test]
fn batches_of_scattered_keys_are_completed() {
    let rule = BatchRule { len: 3, bytes: None, wait: Duration::from_micros(50) };
    let stage = Stage { batch: Some(rule), ..Stage::default() };
    let of = |name: &str, key: &str, place: i64, since| Waiting {
        batch_key: Some(key.to_owned()),
        seq: place,
        ..waiting(name, since, 1)
    };
    let planner = |max| {
        let mut planner = Planner::new(&stage, max, at(0), Rooms::default(), BTreeMap::new());
        planner.look(vec![
            of("a1", "a", 1, -9),
            of("b1", "b", 2, -60),
            of("c1", "c", 3, -8),
            of("a2", "a", 4, 0),
        ]);
        planner
    };
    let mut two = planner(2);
    assert!(!two.is_full() && two.lacks() == 2);
    assert_eq!(two.open_keys(9, false), ["b", "a", "c"], "the one that has waited longest first");
    assert_eq!(two.open_keys(9, true), ["b"], "the only one that is ripe with what is there");
    let page = [of("a3", "a", 5, 0), of("d1", "d", 6, 0), of("e1", "e", 7, 0)];
    assert_eq!((two.of_keys(&page, 2), two.of_keys(&page, 0), two.of_keys(&page, 9)), (2, 0, 3));
    let keys = ["a".to_owned(), "b".to_owned()];
    // What was seen behind the place is not there twice.
    two.complete(&keys, Some((0, 3)), vec![of("a2", "a", 4, 0), of("a3", "a", 5, 0)]);
    assert!(two.is_full(), "a is full, and b is ripe");
    assert_eq!((two.open_keys(9, false), two.of_keys(&page, 1)), (vec!["c".to_owned()], 2));
    two.look(page.to_vec());
    let taken = two.done();
    assert_eq!(names(&taken), [vec!["b1"], vec!["a1", "a2", "a3"]]);
    assert_eq!(taken.picks[1].trigger, Some(Trigger::Size));
    let mut none = planner(2);
    none.leave(&keys);
    assert!(!none.is_full(), "a is neither full nor due");
    assert_eq!(names(&none.done()), [["b1"]]);
}
