//! Many processes, one schedule.

use std::sync::Arc;

use pgflow_machine::schedule::{Fired, Missed, Paused, Put, ScheduleSpec};
use pgflow_runtime::backend::{Backend, RunQuery};

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::schedules::{ScheduleKit, changes, fired};

pub(crate) const CHECKS: &[Check] = &[
    check!("SC21", "of many who fire the same moment, one does", one_fires, Schedules),
    check!("SC22", "of many who make the same schedule, one does", one_makes, Schedules),
    check!(
        "SC23",
        "a pause, a resume or a removal beside a replacement is not lost",
        none_is_lost,
        Schedules
    ),
    check!(
        "SC24",
        "what was found out about one that was removed does not count for its successor",
        made_again,
        Schedules
    ),
];

async fn kits(kit: &ScheduleKit, many: usize) -> Vec<ScheduleKit> {
    let is_shared = kit.backend.abilities().multi_process;
    let mut kits = Vec::new();
    for _ in 0..many {
        let backend: Arc<dyn Backend> =
            if is_shared { kit.cx.another().await } else { Arc::clone(&kit.backend) };
        kits.push(ScheduleKit { backend, ..kit.clone() });
    }
    kits
}

async fn one_fires(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    kit.put(ScheduleSpec { missed: Missed::All(9), ..kit.spec() }).await.expect("made");
    let kits = kits(&kit, 4).await;
    for _ in 0..cx.rounds(5, 50) {
        let (moments, seen) = (kit.moments(1).await, kit.get().await.revision);
        let tries = kits.iter().cloned().map(|kit| {
            let moments = moments.clone();
            tokio::spawn(async move { kit.fire(seen, &moments).await })
        });
        let mut fired = Vec::new();
        for one in tries.collect::<Vec<_>>() {
            fired.push(one.await.expect("no panic"));
        }
        fired.retain(|fired| *fired != Fired::Superseded);
        let only = Fired::Fired { started: vec![kit.run(moments[0])], skipped: 0 };
        assert_eq!(fired, [only]);
    }
    let query = RunQuery { flows: vec![kit.flow.clone()], max: 1_000, ..RunQuery::default() };
    let runs = kit.backend.list(&query).await.expect("a list");
    assert_eq!(runs.len(), cx.rounds(5, 50));
}

async fn one_makes(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let kits = kits(&kit, 4).await;
    let puts = kits.into_iter().map(|kit| {
        tokio::spawn(async move { kit.put(kit.spec()).await.expect("a schedule can be made") })
    });
    let mut said = Vec::new();
    for put in puts.collect::<Vec<_>>() {
        said.push(put.await.expect("no panic"));
    }
    assert_eq!(said.iter().filter(|put| **put == Put::Created).count(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|put| **put == Put::Unchanged).count(), 3, "{said:?}");
    assert_eq!(changes(&kit.get().await), 0);
}

async fn none_is_lost(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    let [one, two, ..] = &kits(&kit, 2).await[..] else { panic!("two of them") };
    let crons = ["@hourly", "@daily"];
    kit.put(kit.spec()).await.expect("made");
    for round in 0..cx.rounds(40, 200) {
        let spec = ScheduleSpec { cron: crons[round % 2].into(), ..kit.spec() };
        let pause = round % 4 < 2;
        let (put, paused) =
            tokio::join!(one.put(spec), two.schedules().pause_schedule(&kit.name, pause));
        assert_eq!(put, Ok(Put::Replaced));
        let found = kit.get().await;
        let expected = if round % 2 == 0 { Paused::Now } else { Paused::Before };
        assert_eq!(paused.expect("an outcome"), expected, "round {round}");
        assert_eq!((found.paused_at.is_some(), &*found.spec.cron), (pause, crons[round % 2]));
    }
    for round in 0..cx.rounds(40, 200) {
        kit.put(ScheduleSpec { cron: "@weekly".into(), ..kit.spec() }).await.expect("made");
        let spec = ScheduleSpec { cron: crons[round % 2].into(), ..kit.spec() };
        let (put, removed) =
            tokio::join!(one.put(spec), two.schedules().remove_schedule(&kit.name, None));
        assert!(removed.expect("an outcome"), "round {round}");
        // Whoever came second made a new one.
        assert_eq!(kit.find().await.is_some(), put == Ok(Put::Created), "round {round}: {put:?}");
    }
}

async fn made_again(cx: Arc<Cx>) {
    let kit = ScheduleKit::new(&cx).await;
    kit.put(kit.spec()).await.expect("made");
    let seen = kit.get().await.revision;
    kit.wait().await;
    kit.schedules().remove_schedule(&kit.name, None).await.expect("removed");
    kit.put(kit.spec()).await.expect("made again");
    let moments = kit.moments(1).await;
    assert_eq!(kit.fire(seen, &moments).await, Fired::Superseded);
    assert_eq!(kit.fire_now(&moments).await, fired([kit.run(moments[0])], 0));
}
