//! Making, changing, pausing and removing.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::schedule::{
    MOST_MISSED, Missed, Origin, Overlap, Paused, Put, ScheduleProblem, ScheduleSpec,
    ScheduleStatus,
};
use pgflow_machine::{CompiledFor, Timestamp};
use pgflow_runtime::backend::{BackendError, DueQuery, NewSchedule, ScheduleQuery};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::schedules::ScheduleKit;

pub(crate) const CHECKS: &[Check] = &[
    check!("SC01", "a schedule comes back as it was made", back, Schedules),
    check!("SC02", "the same one again changes nothing, another one replaces it", again, Schedules),
    check!("SC03", "one that begins in the past, or of no flow, is refused", refused, Schedules),
    check!(
        "SC04",
        "one that is paused is not due, and stays so when it is replaced",
        paused,
        Schedules
    ),
    check!("SC05", "only what is meant is removed", removed, Schedules),
    check!("SC06", "those of sources are left to workers that serve the flow", sources, Schedules),
    check!("SC07", "names are data", names, Schedules),
    check!(
        "SC08",
        "more or fewer missed moments than can be made up for are refused",
        numbers,
        Schedules
    ),
    check!("SC09", "one that begins when no clock shows it is refused", no_clock, Schedules),
];

async fn back(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let program = CompiledFor { versions: vec![1], interface: Some("hash".into()) };
    let spec = ScheduleSpec {
        compiled_for: Some(Arc::new(program)),
        input: json!({ "a": [1, 2.5, null, "ä"] }),
        zone: "Europe/Berlin".into(),
        missed: Missed::All(7),
        overlap: Overlap::Queue,
        ..kit.spec()
    };
    let before = kit.now().await;
    assert_eq!(kit.put(spec.clone()).await, Ok(Put::Created));
    let found = kit.get().await;
    assert_eq!((found.spec, found.status), (spec, ScheduleStatus::Pending));
    assert_eq!((found.next_at, found.paused_at), (None, None));
    assert!(found.after >= before && found.created_at >= before && found.queued.is_empty());
    assert_eq!((found.last_at, found.last_run, found.error), (None, None, None));
    assert!(kit.is_due().await, "somebody has to find out when it is due");
}

async fn again(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    kit.put(kit.spec()).await.expect("made");
    kit.fire_now(&[]).await;
    let found = kit.get().await;
    assert!(found.status == ScheduleStatus::Active && !kit.is_due().await);
    assert!(kit.due().await.next_at.is_some_and(|next| next <= found.next_at.unwrap()));
    assert_eq!(kit.put(kit.spec()).await, Ok(Put::Unchanged));
    assert_eq!(kit.get().await, found);
    let input = ScheduleSpec { input: json!(7), ..kit.spec() };
    assert_eq!(kit.put(input.clone()).await, Ok(Put::Replaced));
    let replaced = kit.get().await;
    assert_eq!((replaced.next_at, &replaced.spec), (found.next_at, &input));
    assert_ne!(replaced.revision, found.revision);
    assert_eq!(replaced.created_at, found.created_at);
    let zone = ScheduleSpec { zone: "Asia/Tokyo".into(), ..input };
    assert_eq!(kit.put(zone).await, Ok(Put::Replaced));
    let replaced = kit.get().await;
    assert_eq!((replaced.next_at, replaced.status), (None, ScheduleStatus::Pending));
    let first_at = kit.now().await + Duration::from_hours(1);
    let new = NewSchedule { first_at: Some(first_at), ..NewSchedule::new(&kit.name, kit.spec()) };
    let put = kit.schedules().put_schedule(&new).await.expect("an outcome");
    assert_eq!(put, Ok(Put::Replaced));
    assert_eq!(kit.get().await.next_at, Some(first_at));
}

async fn refused(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let past = Timestamp::from_micros(kit.now().await.micros() - 1_000);
    let begins = NewSchedule { begins: Some(past), ..NewSchedule::new(&kit.name, kit.spec()) };
    let first = NewSchedule { first_at: Some(past), ..NewSchedule::new(&kit.name, kit.spec()) };
    for new in [begins, first] {
        let put = kit.schedules().put_schedule(&new).await.expect("an outcome");
        let Err(ScheduleProblem::BeginsInThePast { begins, now }) = put else { panic!("{put:?}") };
        assert!(begins == past && now > past);
    }
    let elsewhere = NewSchedule::new(&kit.name, ScheduleSpec::new("no_such_flow", "@daily"));
    let unknown = kit.schedules().put_schedule(&elsewhere).await;
    assert!(matches!(unknown, Err(BackendError::UnknownFlow { .. })), "{unknown:?}");
    let program = CompiledFor { versions: vec![9], interface: None };
    let newer = ScheduleSpec { compiled_for: Some(Arc::new(program)), ..kit.spec() };
    let unknown = kit.schedules().put_schedule(&NewSchedule::new(&kit.name, newer)).await;
    assert!(matches!(unknown, Err(BackendError::UnknownVersion { .. })), "{unknown:?}");
    assert_eq!(kit.find().await, None);
    kit.put(kit.spec()).await.expect("made");
    let source = ScheduleSpec { origin: Origin::Source, ..kit.spec() };
    let taken = Err(ScheduleProblem::Taken { by: Origin::Client });
    assert_eq!(kit.put(source).await, taken);
}

async fn paused(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let set =
        async |pause| kit.schedules().pause_schedule(&kit.name, pause).await.expect("an outcome");
    assert_eq!(set(true).await, Paused::Unknown);
    kit.put(kit.spec()).await.expect("made");
    assert_eq!(set(false).await, Paused::Before);
    let seen = kit.get().await.revision;
    assert_eq!((set(true).await, set(true).await), (Paused::Now, Paused::Before));
    assert!(!kit.is_due().await);
    let moments = kit.moments(1).await;
    assert_eq!(kit.fire(seen, &moments).await, pgflow_machine::schedule::Fired::Superseded);
    assert_eq!(kit.fire_now(&moments).await, pgflow_machine::schedule::Fired::Superseded);
    kit.put(ScheduleSpec { cron: "@daily".into(), ..kit.spec() }).await.expect("replaced");
    let found = kit.get().await;
    assert!(found.paused_at.is_some() && !kit.is_due().await);
    kit.wait().await;
    assert_eq!(set(false).await, Paused::Now);
    let resumed = kit.get().await;
    assert!(resumed.paused_at.is_none() && resumed.after > found.after && kit.is_due().await);
}

async fn removed(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let remove =
        async |of| kit.schedules().remove_schedule(&kit.name, of).await.expect("an outcome");
    assert!(!remove(None).await);
    kit.put(kit.spec()).await.expect("made");
    assert!(!remove(Some(Origin::Source)).await && kit.find().await.is_some());
    assert!(remove(Some(Origin::Client)).await && kit.find().await.is_none());
    kit.put(ScheduleSpec { origin: Origin::Source, ..kit.spec() }).await.expect("made");
    assert!(remove(None).await && !remove(None).await);
}

async fn sources(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    kit.put(ScheduleSpec { origin: Origin::Source, ..kit.spec() }).await.expect("made");
    let others = DueQuery { flows: vec!["another".into()], max: 1_000 };
    let of_others = || async {
        let due = kit.schedules().due_schedules(&others).await.expect("an answer");
        due.schedules.iter().any(|schedule| schedule.name == kit.name)
    };
    assert!(kit.is_due().await && !of_others().await);
    kit.schedules().remove_schedule(&kit.name, None).await.expect("removed");
    kit.put(kit.spec()).await.expect("made");
    assert!(kit.is_due().await && of_others().await);
}

async fn names(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let texts = ["'; drop table x;--", "Ä/ö", "ä/ö", "a b", "a b ", "%", "_"];
    let named = |text: &str| ScheduleKit { name: format!("{}{text}", kit.name), ..kit.clone() };
    for text in texts {
        let spec = ScheduleSpec { input: json!(text), ..kit.spec() };
        assert_eq!(named(text).put(spec).await, Ok(Put::Created));
    }
    for text in texts {
        assert_eq!(named(text).get().await.spec.input, json!(text));
    }
    let of_flow = ScheduleQuery { flow: Some(kit.flow.clone()), ..ScheduleQuery::default() };
    let all = kit.schedules().list_schedules(&of_flow).await.expect("a list");
    assert!(all.is_sorted_by_key(|schedule| schedule.name.clone()));
    assert_eq!(all.len(), texts.len());
    let after = ScheduleQuery { after: Some(all[2].name.clone()), max: 2, ..of_flow };
    assert_eq!(kit.schedules().list_schedules(&after).await.expect("a page"), all[3..5]);
    for wrong in [String::new(), "x".repeat(129)] {
        let put = ScheduleKit { name: wrong, ..kit.clone() }.put(kit.spec()).await;
        assert!(matches!(put, Err(ScheduleProblem::Name(_))), "{put:?}");
    }
}

async fn numbers(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let all = |most| ScheduleSpec { missed: Missed::All(most), ..kit.spec() };
    for most in [0, MOST_MISSED + 1, u32::MAX] {
        let put = kit.put(all(most)).await;
        let Err(ScheduleProblem::Policy(wrong)) = put else { panic!("{most}: {put:?}") };
        assert_eq!(wrong.text, format!("all({most})"));
    }
    assert_eq!(kit.find().await, None);
    for most in [1, MOST_MISSED] {
        kit.put(all(most)).await.expect("made");
        assert_eq!(kit.get().await.spec, all(most));
    }
}

async fn no_clock(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let put = async |begins, first_at| {
        let new = NewSchedule { begins, first_at, ..NewSchedule::new(&kit.name, kit.spec()) };
        kit.schedules().put_schedule(&new).await.expect("an outcome")
    };
    let [earliest, latest] = [i64::MIN, i64::MAX].map(Timestamp::from_micros);
    let late = Err(ScheduleProblem::BeginsTooLate { begins: latest });
    assert_eq!(put(Some(latest), None).await, late);
    assert_eq!(put(None, Some(latest)).await, late);
    for (begins, first_at) in [(Some(earliest), None), (None, Some(earliest))] {
        let put = put(begins, first_at).await;
        assert!(matches!(put, Err(ScheduleProblem::BeginsInThePast { .. })), "{put:?}");
    }
    assert_eq!(kit.find().await, None);
}
