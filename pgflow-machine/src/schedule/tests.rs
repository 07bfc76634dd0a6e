//! Schedules, case by case.

use std::sync::Arc;

use pgflow_model::{FlowShape, StepShape};
use serde_json::json;

use super::*;
use crate::{Catalog, Command, FlowVersion, Refusal, RunId, Timestamp, Version};

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(second * 1_000_000)
}

fn catalog() -> Arc<Catalog> {
    let mut shape = FlowShape::new("report");
    shape.steps = vec![StepShape::new("write")];
    let (flow, slug) = ("report".to_owned(), "report".to_owned());
    let version = FlowVersion { flow, version: 1, slug, shape };
    Arc::new(Catalog::new([Version::new(1, version, None).unwrap()]))
}

fn spec(missed: Missed, overlap: Overlap) -> ScheduleSpec {
    ScheduleSpec { missed, overlap, ..ScheduleSpec::new("report", "* * * * *") }
}

fn rows(missed: Missed, overlap: Overlap) -> ScheduleRows {
    let mut schedule = Schedule::new("s", spec(missed, overlap), at(0));
    (schedule.status, schedule.next_at) = (ScheduleStatus::Active, Some(at(60)));
    ScheduleRows { schedule: Some(schedule), is_running: false }
}

/// Fires at these moments, and says which seconds start a run and how many do not.
fn fire(rows: &mut ScheduleRows, due: &[i64], now: i64) -> (Vec<i64>, u32) {
    let schedule = rows.schedule.clone().unwrap();
    let due: Vec<_> = due.iter().map(|second| at(*second)).collect();
    let next = Next::At(at(now + 60));
    let fire = Fire {
        name: "s",
        revision: schedule.revision,
        due: &due,
        next: &next,
        input: Given::Stored,
    };
    let (fired, writes) = fire.decide(rows, at(now)).unwrap();
    let Fired::Fired { started, skipped } = fired else { panic!("superseded") };
    assert!(started.iter().eq(writes.starts.iter().map(|run| &run.id)));
    let second = |run: &RunId| (0..10_000).find(|second| Tick::new("s", at(*second)).run == *run);
    (started.iter().filter_map(second).collect(), skipped)
}

#[test]
fn what_is_missed_is_made_up_for_as_wanted() {
    let fired = |missed, due: &[i64], now| fire(&mut rows(missed, Overlap::Allow), due, now);
    assert_eq!(fired(Missed::Skip, &[60], 61), (vec![60], 0));
    assert_eq!(fired(Missed::Skip, &[60], 120), (vec![60], 0), "just not late");
    assert_eq!(fired(Missed::Skip, &[60], 121), (vec![], 1));
    assert_eq!(fired(Missed::Skip, &[60, 120, 180], 181), (vec![180], 2));
    for missed in [Missed::Skip, Missed::Last, Missed::All(1)] {
        let of_late = fired(missed, &[60, 61, 62, 118, 119, 120], 121);
        assert_eq!(of_late, (vec![61, 62, 118, 119, 120], 1), "{missed}: a minute ago is in time");
    }
    assert_eq!(fired(Missed::Last, &[60, 120, 180], 900), (vec![180], 2));
    assert_eq!(fired(Missed::All(2), &[60, 120, 180], 900), (vec![120, 180], 1));
    assert_eq!(fired(Missed::All(9), &[60, 120, 180], 900), (vec![60, 120, 180], 0));
    assert_eq!(fired(Missed::All(9), &[], 900), (vec![], 0));
}

#[test]
fn what_there_is_no_input_for_does_not_start() {
    let mut rows = rows(Missed::Last, Overlap::Allow);
    let next = Next::At(at(120));
    let fire = Fire {
        name: "s",
        revision: rows.schedule.as_ref().unwrap().revision,
        due: &[at(60)],
        next: &next,
        input: Given::Nothing("there is none"),
    };
    let (fired, writes) = fire.decide(&mut rows, at(60)).unwrap();
    assert_eq!(fired, Fired::Fired { started: vec![], skipped: 1 });
    assert!(writes.schedule && writes.starts.is_empty());
    let schedule = rows.schedule.as_ref().unwrap();
    assert_eq!(schedule.error.as_deref(), Some("there is none"));
    assert_eq!((schedule.after, schedule.next_at), (at(60), Some(at(120))), "it goes on");
    assert_eq!((schedule.last_at, schedule.last_run), (None, None), "it started nothing");
    self::fire(&mut rows, &[120], 120);
    assert_eq!(rows.schedule.unwrap().error, None, "it could be started again");
}

#[test]
fn no_moment_starts_a_run_before_it_comes_or_twice() {
    let mut rows = rows(Missed::All(9), Overlap::Allow);
    assert_eq!(fire(&mut rows, &[60, 120], 60), (vec![60], 0), "120 is to come");
    assert_eq!(fire(&mut rows, &[60, 120], 130), (vec![120], 0), "60 has been");
    let schedule = rows.schedule.unwrap();
    assert_eq!((schedule.after, schedule.last_at), (at(120), Some(at(120))));
    assert_eq!(schedule.last_run, Some(Tick::new("s", at(120)).run));
}

/// The clock went back between the worker's look and this.
#[test]
fn a_moment_that_has_not_come_yet_stays_the_next_one() {
    let mut rows = rows(Missed::Last, Overlap::Allow);
    assert_eq!(fire(&mut rows, &[60], 59), (vec![], 0));
    assert_eq!(rows.schedule.as_ref().unwrap().next_at, Some(at(60)));
    assert_eq!(fire(&mut rows, &[60], 60), (vec![60], 0));
    assert_eq!(rows.schedule.unwrap().next_at, Some(at(120)));
}

#[test]
fn whoever_saw_an_older_one_changes_nothing() {
    let mut rows = rows(Missed::Last, Overlap::Allow);
    let next = Next::Never;
    let late = |revision| Fire { name: "s", revision, due: &[], next: &next, input: Given::Stored };
    let seen = rows.schedule.as_ref().unwrap().revision;
    fire(&mut rows, &[60], 61);
    let before = rows.clone();
    assert_eq!(late(seen).decide(&mut rows, at(62)).unwrap().0, Fired::Superseded);
    let pause = PauseSchedule { name: "s", pause: true };
    assert_eq!(pause.decide(&mut rows, at(62)).unwrap().0, Paused::Now);
    let seen = rows.schedule.as_ref().unwrap().revision;
    assert_eq!(late(seen).decide(&mut rows, at(62)).unwrap().0, Fired::Superseded, "paused");
    assert_eq!(rows.schedule.unwrap().next_at, before.schedule.unwrap().next_at);
    let again = Schedule::new("s", spec(Missed::Last, Overlap::Allow), at(62));
    let removed = Schedule::new("s", spec(Missed::Last, Overlap::Allow), at(0));
    let made_again = &mut ScheduleRows { schedule: Some(again), is_running: false };
    let fired = late(removed.revision).decide(made_again, at(63)).unwrap().0;
    assert_eq!(fired, Fired::Superseded, "of one that was removed");
    let nothing = &mut ScheduleRows::default();
    assert_eq!(late(1).decide(nothing, at(62)).unwrap().0, Fired::Superseded);
}

#[test]
fn runs_overlap_skip_or_queue() {
    let mut skips = rows(Missed::All(9), Overlap::Skip);
    assert_eq!(fire(&mut skips, &[60, 120], 121), (vec![120], 1), "one at a time");
    skips.is_running = true;
    assert_eq!(fire(&mut skips, &[180], 181), (vec![], 1));
    let mut queues = rows(Missed::All(9), Overlap::Queue);
    assert_eq!(fire(&mut queues, &[60, 120], 121), (vec![60], 0));
    queues.is_running = true;
    assert_eq!(fire(&mut queues, &[180], 181), (vec![], 0));
    queues.is_running = false;
    assert_eq!(fire(&mut queues, &[], 182), (vec![120], 0), "they keep their order");
    assert_eq!(fire(&mut queues, &[], 183), (vec![180], 0));
    assert_eq!(fire(&mut queues, &[], 184), (vec![], 0));
}

#[test]
fn a_queue_has_an_end() {
    let mut queues = rows(Missed::All(MOST_MISSED), Overlap::Queue);
    queues.is_running = true;
    let due: Vec<_> = (1..=i64::try_from(QUEUED_AT_MOST).unwrap()).collect();
    fire(&mut queues, &due, 1_000);
    assert_eq!(fire(&mut queues, &[1_001], 1_001), (vec![], 1));
    let left = queues.schedule.unwrap().queued;
    assert_eq!((left.len(), left[0].at), (QUEUED_AT_MOST, at(2)));
}

#[test]
fn nothing_is_written_when_nothing_changed() {
    let mut rows = rows(Missed::Last, Overlap::Queue);
    let next = Next::At(at(60));
    let fire = Fire { name: "s", revision: 1, due: &[], next: &next, input: Given::Stored };
    let (fired, writes) = fire.decide(&mut rows, at(30)).unwrap();
    assert_eq!(fired, Fired::Fired { started: vec![], skipped: 0 });
    assert!(!writes.schedule && rows.schedule.unwrap().revision == 1);
}

#[test]
fn what_cannot_be_read_says_so_until_it_is_replaced() {
    let mut rows = rows(Missed::Last, Overlap::Allow);
    let next = Next::Unknown("nonsense".into());
    let fire = Fire { name: "s", revision: 1, due: &[], next: &next, input: Given::Stored };
    fire.decide(&mut rows, at(1)).unwrap();
    let schedule = rows.schedule.clone().unwrap();
    assert_eq!((schedule.status, schedule.next_at), (ScheduleStatus::Broken, None));
    assert_eq!(schedule.error.as_deref(), Some("nonsense"));
    assert!(!schedule.is_due(at(9_999)));
    let same = schedule.spec.clone();
    let put_again = put(&mut rows.clone(), &same, None, at(5));
    assert_eq!(put_again, Ok(Put::Replaced), "by a program that can read it");
    let spec = spec(Missed::Skip, Overlap::Allow);
    assert_eq!(put(&mut rows, &spec, None, at(5)), Ok(Put::Replaced));
    let schedule = rows.schedule.unwrap();
    assert!(schedule.is_due(at(5)) && schedule.error.is_none());
}

fn put(
    rows: &mut ScheduleRows,
    spec: &ScheduleSpec,
    first_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<Put, ScheduleProblem> {
    let put = PutSchedule { name: "s", spec, begins: None, first_at, catalog: catalog() };
    put.decide(rows, now).unwrap().0
}

#[test]
fn a_schedule_is_made_once_and_changed_in_place() {
    let (mut rows, one) = (ScheduleRows::default(), spec(Missed::Last, Overlap::Allow));
    assert_eq!(put(&mut rows, &one, None, at(1)), Ok(Put::Created));
    assert_eq!(rows.schedule.as_ref().unwrap().status, ScheduleStatus::Pending);
    fire(&mut rows, &[], 2);
    assert_eq!(put(&mut rows, &one, None, at(3)), Ok(Put::Unchanged));
    let next_at = rows.schedule.as_ref().unwrap().next_at;
    let other_input = ScheduleSpec { input: json!(7), ..one.clone() };
    assert_eq!(put(&mut rows, &other_input, None, at(4)), Ok(Put::Replaced));
    assert_eq!(rows.schedule.as_ref().unwrap().next_at, next_at, "its moments are the same");
    let other_time = ScheduleSpec { cron: "@daily".into(), ..one.clone() };
    assert_eq!(put(&mut rows, &other_time, None, at(5)), Ok(Put::Replaced));
    let schedule = rows.schedule.as_ref().unwrap();
    assert_eq!((schedule.next_at, schedule.after), (None, at(5)));
    assert_eq!(schedule.revision, Schedule::new("s", one.clone(), at(1)).revision + 3);
    let other_zone = ScheduleSpec { zone: "Asia/Tokyo".into(), ..other_time };
    assert_eq!(put(&mut rows, &other_zone, Some(at(70)), at(6)), Ok(Put::Replaced));
    assert_eq!(rows.schedule.unwrap().next_at, Some(at(70)));
}

#[test]
fn what_somebody_paused_stays_so_when_it_is_replaced() {
    let mut rows = rows(Missed::Last, Overlap::Allow);
    let pause = |pause| PauseSchedule { name: "s", pause };
    assert_eq!(pause(false).decide(&mut rows, at(1)).unwrap().0, Paused::Before);
    pause(true).decide(&mut rows, at(1)).unwrap();
    assert_eq!(pause(true).decide(&mut rows, at(2)).unwrap().0, Paused::Before);
    put(&mut rows, &spec(Missed::Skip, Overlap::Skip), None, at(3)).unwrap();
    assert_eq!(rows.schedule.as_ref().unwrap().paused_at, Some(at(1)));
    assert!(!rows.schedule.as_ref().unwrap().is_due(at(500)));
    assert_eq!(pause(false).decide(&mut rows, at(500)).unwrap().0, Paused::Now);
    let schedule = rows.schedule.unwrap();
    assert_eq!((schedule.after, schedule.next_at), (at(500), None), "what came is not made up for");
    let unknown = pause(true).decide(&mut ScheduleRows::default(), at(1)).unwrap().0;
    assert_eq!(unknown, Paused::Unknown);
}

#[test]
fn what_somebody_paused_begins_no_earlier_than_it_was_to() {
    let mut rows = ScheduleRows::default();
    let one = spec(Missed::Last, Overlap::Allow);
    assert_eq!(put(&mut rows, &one, Some(at(900)), at(1)), Ok(Put::Created));
    for pause in [true, false] {
        PauseSchedule { name: "s", pause }.decide(&mut rows, at(2)).unwrap();
    }
    assert_eq!(rows.schedule.unwrap().after, Timestamp::from_micros(at(900).micros() - 1));
}

#[test]
fn what_cannot_be_is_refused() {
    let one = spec(Missed::Last, Overlap::Allow);
    let past = put(&mut ScheduleRows::default(), &one, Some(at(5)), at(6));
    assert_eq!(past, Err(ScheduleProblem::BeginsInThePast { begins: at(5), now: at(6) }));
    assert_eq!(put(&mut ScheduleRows::default(), &one, Some(at(6)), at(6)), Ok(Put::Created));
    for most in [0, 1_001] {
        let all = put(
            &mut ScheduleRows::default(),
            &spec(Missed::All(most), Overlap::Allow),
            None,
            at(6),
        );
        assert!(matches!(all, Err(ScheduleProblem::Policy(_))), "{all:?}");
    }
    let of_source = ScheduleSpec { origin: Origin::Source, ..one.clone() };
    let mut rows = rows(Missed::Last, Overlap::Allow);
    let taken = Err(ScheduleProblem::Taken { by: Origin::Client });
    assert_eq!(put(&mut rows, &of_source, None, at(1)), taken);
    let unnamed =
        PutSchedule { name: "", spec: &one, begins: None, first_at: None, catalog: catalog() };
    assert!(unnamed.decide(&mut rows, at(1)).unwrap().0.is_err());
    let elsewhere = ScheduleSpec { flow: "nothing".into(), ..one.clone() };
    let put = PutSchedule { name: "s", spec: &elsewhere, ..unnamed };
    let refusal = put.decide(&mut rows, at(1)).unwrap_err();
    assert_eq!(refusal, Refusal::UnknownFlow { flow: "nothing".into() });
}

#[test]
fn only_what_is_meant_is_removed() {
    let mut rows = rows(Missed::Last, Overlap::Allow);
    let remove = |of| RemoveSchedule { name: "s", of };
    assert!(!remove(Some(Origin::Source)).decide(&mut rows, at(1)).unwrap().0);
    assert!(rows.schedule.is_some());
    let (removed, writes) = remove(None).decide(&mut rows, at(1)).unwrap();
    assert!(removed && writes.schedule && rows.schedule.is_none());
    assert!(!remove(None).decide(&mut rows, at(1)).unwrap().0);
}
