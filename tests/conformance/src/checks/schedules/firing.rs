//! Which moments start a run.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::RunStatus;
use pgflow_machine::schedule::{
    Fire, Fired, Given, Missed, Next, Overlap, ScheduleSpec, ScheduleStatus,
};
use pgflow_runtime::backend::{NewSchedule, Parts};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::schedules::{ScheduleKit, fired};
use crate::kit::{Cx, completed, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("SC11", "a moment that has come starts one run, by its id", once, Schedules),
    check!(
        "SC12",
        "no moment starts a run before it comes, or before the schedule",
        early,
        Schedules
    ),
    check!("SC13", "missed moments are made up for as wanted", missed, Schedules),
    check!("SC14", "runs overlap, or moments are left out, or wait", overlap, Schedules),
    check!("SC15", "a start that is refused does not stop the schedule", refusal, Schedules),
    check!("SC16", "what is over or cannot be read is not due", over, Schedules),
    check!("SC17", "a run can be given another input than what is stored", input, Schedules),
    check!(
        "SC18",
        "what there is no input for does not start, and it is said why",
        no_input,
        Schedules
    ),
    check!("SC19", "what is not a minute ago is not missed", in_time, Schedules),
];

async fn once(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    kit.put(ScheduleSpec { input: json!({ "day": 1 }), ..kit.spec() }).await.expect("made");
    let seen = kit.get().await.revision;
    let moments = kit.moments(1).await;
    let run = kit.run(moments[0]);
    assert_eq!(kit.fire(seen, &moments).await, fired([run], 0));
    assert_eq!(kit.fire(seen, &moments).await, Fired::Superseded);
    assert_eq!(kit.fire_now(&moments).await, fired([], 0), "it has been");
    let found = kit.get().await;
    assert_eq!((found.last_at, found.last_run), (Some(moments[0]), Some(run)));
    assert_eq!((found.after, found.status), (moments[0], ScheduleStatus::Active));
    let record = kit.backend.run(run, Parts::Run).await.expect("read").expect("a run");
    assert_eq!((record.flow, record.input), (kit.flow.clone(), Some(json!({ "day": 1 }))));
    assert_eq!(cx.claim(&kit.flow).await.len(), 1, "its task can be claimed");
}

async fn early(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    kit.put(ScheduleSpec { missed: Missed::All(9), ..kit.spec() }).await.expect("made");
    let soon = kit.now().await + Duration::from_mins(1);
    let before = kit.get().await.after;
    assert_eq!(kit.fire_now(&[before, soon]).await, fired([], 0));
    let found = kit.get().await;
    assert_eq!((found.last_at, found.after), (None, before));
    assert!(cx.claim(&kit.flow).await.is_empty());
}

async fn missed(cx: Arc<Cx>) {
    for (missed, started, skipped) in [
        (Missed::Skip, 5..5, 5),
        (Missed::Last, 4..5, 4),
        (Missed::All(2), 3..5, 3),
        (Missed::All(9), 0..5, 0),
    ] {
        let kit = ScheduleKit::new(&cx).await;
        kit.put(ScheduleSpec { missed, ..kit.spec() }).await.expect("made");
        cx.database().advance(&kit.flow, Duration::from_mins(2)).await;
        let moments = kit.moments(5).await;
        let runs = moments[started].iter().map(|at| kit.run(*at));
        assert_eq!(kit.fire_now(&moments).await, fired(runs, skipped), "{missed}");
        assert_eq!(kit.get().await.after, moments[4]);
    }
}

async fn in_time(cx: Arc<Cx>) {
    for missed in [Missed::Skip, Missed::Last, Missed::All(1), Missed::All(9)] {
        let kit = ScheduleKit::new(&cx).await;
        kit.put(ScheduleSpec { missed, ..kit.spec() }).await.expect("made");
        let moments = kit.moments(5).await;
        let runs = moments.iter().map(|at| kit.run(*at));
        assert_eq!(kit.fire_now(&moments).await, fired(runs, 0), "{missed}");
    }
}

async fn overlap(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let spec = |overlap| ScheduleSpec { overlap, missed: Missed::All(9), ..kit.spec() };
    kit.put(spec(Overlap::Skip)).await.expect("made");
    let moments = kit.moments(9).await;
    let run = |n: usize| kit.run(moments[n]);
    assert_eq!(kit.fire_now(&moments[..2]).await, fired([run(1)], 1), "one at a time");
    assert_eq!(kit.fire_now(&moments[2..3]).await, fired([], 1));
    kit.put(spec(Overlap::Queue)).await.expect("replaced");
    assert_eq!(kit.fire_now(&moments[3..5]).await, fired([], 0));
    let queued: Vec<_> = kit.get().await.queued.iter().map(|tick| tick.at).collect();
    assert_eq!(queued, moments[3..5]);
    assert!(kit.is_due().await, "they wait for a run to end");
    end(&kit).await;
    assert_eq!(kit.fire_now(&[]).await, fired([run(3)], 0));
    assert_eq!(kit.fire_now(&[]).await, fired([], 0), "that one goes on");
    end(&kit).await;
    assert_eq!(kit.fire_now(&moments[5..6]).await, fired([run(4)], 0), "in their order");
    kit.put(spec(Overlap::Allow)).await.expect("replaced");
    let both = [run(6), run(7)];
    assert_eq!(kit.fire_now(&moments[6..8]).await, fired(both, 0));
}

/// Completes what can be claimed.
async fn end(kit: &ScheduleKit) {
    for task in kit.cx.claim(&kit.flow).await {
        kit.cx.settle(&task.lease, completed(1)).await;
        let run = task.lease.task.run;
        let record = kit.backend.run(run, Parts::Run).await.expect("read").expect("a run");
        assert_eq!(record.status, RunStatus::Completed);
    }
}

async fn refusal(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let flow = cx.flow([single("a").map()]).await;
    let kit = ScheduleKit { flow, ..kit };
    let spec = ScheduleSpec { missed: Missed::All(9), ..kit.spec() };
    kit.put(ScheduleSpec { input: json!("no array"), ..spec.clone() }).await.expect("made");
    let moments = kit.moments(2).await;
    let revision = kit.get().await.revision;
    let next = Next::At(kit.now().await + Duration::from_hours(1));
    let fire =
        Fire { name: &kit.name, revision, due: &moments[..1], next: &next, input: Given::Stored };
    kit.schedules().fire_schedule(&fire).await.expect("it goes on");
    let found = kit.get().await;
    assert!(found.error.as_deref().is_some_and(|error| error.contains("array")), "{found:?}");
    assert_eq!((found.status, found.after), (ScheduleStatus::Active, moments[0]));
    let run = kit.run(moments[0]);
    assert_eq!(kit.backend.run(run, Parts::Run).await.expect("read"), None);
    kit.put(ScheduleSpec { input: json!([1]), ..spec }).await.expect("mended");
    assert_eq!(kit.fire_now(&moments).await, fired([kit.run(moments[1])], 0));
    assert_eq!(kit.get().await.error, None);
}

async fn over(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    kit.put(kit.spec()).await.expect("made");
    let say = async |next: Next| {
        let revision = kit.get().await.revision;
        let fire = Fire { name: &kit.name, revision, due: &[], next: &next, input: Given::Stored };
        kit.schedules().fire_schedule(&fire).await.expect("an outcome");
        kit.get().await
    };
    let found = say(Next::Never).await;
    assert_eq!((found.status, found.next_at), (ScheduleStatus::Over, None));
    assert!(!kit.is_due().await);
    let found = say(Next::Unknown("it is nonsense".into())).await;
    assert_eq!(found.status, ScheduleStatus::Broken);
    assert_eq!(found.error.as_deref(), Some("it is nonsense"));
    assert!(!kit.is_due().await);
    let first_at = kit.now().await + Duration::from_mins(1);
    let new = NewSchedule { first_at: Some(first_at), ..NewSchedule::new(&kit.name, kit.spec()) };
    kit.schedules().put_schedule(&new).await.expect("an outcome").expect("replaced");
    let found = kit.get().await;
    assert_eq!((found.status, found.error), (ScheduleStatus::Active, None));
}

async fn input(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    kit.put(ScheduleSpec { input: json!("stored"), ..kit.spec() }).await.expect("made");
    let (moments, revision) = (kit.moments(1).await, kit.get().await.revision);
    let (next, input) = (Next::Never, json!("made for this run"));
    let fire =
        Fire { name: &kit.name, revision, due: &moments, next: &next, input: Given::Made(&input) };
    kit.schedules().fire_schedule(&fire).await.expect("an outcome");
    let run = kit.run(moments[0]);
    cx.remember(run);
    assert_eq!(kit.backend.input(run).await.expect("read"), Some(input));
    assert_eq!(kit.get().await.spec.input, json!("stored"));
}

async fn no_input(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    kit.put(ScheduleSpec { input: json!("stored"), ..kit.spec() }).await.expect("made");
    let (moments, revision) = (kit.moments(2).await, kit.get().await.revision);
    let next = Next::At(kit.now().await + Duration::from_hours(1));
    let (name, due, input) = (&kit.name, &moments[..1], Given::Nothing("there is none"));
    let fire = Fire { name, revision, due, next: &next, input };
    let answer = kit.schedules().fire_schedule(&fire).await.expect("an outcome");
    assert_eq!(answer, fired([], 1));
    let found = kit.get().await;
    assert_eq!(found.error.as_deref(), Some("there is none"));
    assert_eq!((found.status, found.after), (ScheduleStatus::Active, moments[0]));
    assert_eq!((found.last_at, found.last_run), (None, None));
    let run = kit.run(moments[0]);
    assert_eq!(kit.backend.run(run, Parts::Run).await.expect("read"), None);
    assert_eq!(kit.fire_now(&moments).await, fired([kit.run(moments[1])], 0), "it goes on");
    assert_eq!(kit.get().await.error, None);
}
