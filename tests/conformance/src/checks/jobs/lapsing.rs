//! Leases that run out.

use std::sync::Arc;

use pgflow_machine::job::{ConcernCleared, JobSettings, JobSettled, JobVerdict, NewJob};

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::{JobKit, done, failed, hand_over};

pub(crate) const CHECKS: &[Check] = &[
    check!("J14", "a lapse counts once, for whoever sees it first", once, Jobs),
    check!("J15", "lapses in a row are a concern, until somebody clears it", concern, Jobs),
    check!(
        "J16",
        "the last attempt that is lost is a crash; its zombie changes nothing",
        crash,
        Jobs
    ),
    check!("J49", "a new threshold counts at once, for sleepers too", threshold, Jobs),
];

async fn once(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&[kit.job("a", "n"), kit.job("b", "nobody")]).await;
    kit.take("a", "n").await;
    kit.take("b", "nobody").await;
    assert_eq!(kit.sweep().await.lapses.lapsed, 0);
    kit.pass(61).await;
    let zombie = kit.take("a", "n").await;
    assert_eq!(kit.sweep().await.lapses.lapsed, 1, "b, which nobody polls; the claim saw a");
    assert_eq!(kit.sweep().await.lapses.lapsed, 0);
    for name in ["a", "b"] {
        let row = kit.record(name).await.summary.row;
        assert_eq!((row.lapses, row.streak), (1, 1), "{name}");
    }
    kit.expect(&[("a", "ACTIVE"), ("b", "READY")]).await;
    kit.pass(61).await;
    kit.sweep().await;
    assert_eq!(kit.settle(&zombie, done()).await, JobSettled::Fenced);
    assert_eq!(kit.trace("a").await, ["submitted", "claimed", "lapsed", "claimed", "lapsed"]);
}

async fn concern(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let settings = kit.jobs().job_settings().await.expect("settings");
    assert_eq!(settings, JobSettings::default());
    let low = JobSettings { crash_threshold: 1, ..settings };
    kit.jobs().set_job_settings(low).await.expect("settings can be set");
    kit.submit(&[kit.job("a", "n")]).await;
    kit.take("a", "n").await;
    kit.pass(61).await;
    let a = kit.take("a", "n").await;
    kit.settle(&a, hand_over(&kit, "n", &[])).await;
    for verdict in [failed(0), JobVerdict::Released] {
        kit.take("a", "n").await;
        kit.pass(61).await;
        let a = kit.take("a", "n").await;
        assert_eq!(kit.record("a").await.summary.row.streak, 1);
        kit.settle(&a, verdict).await;
        assert_eq!(kit.record("a").await.summary.row.streak, 1, "in a row still");
        let a = kit.take("a", "n").await;
        kit.settle(&a, hand_over(&kit, "n", &[])).await;
    }
    for _ in 0..2 {
        kit.take("a", "n").await;
        kit.pass(61).await;
    }
    let swept = kit.sweep().await.lapses;
    assert_eq!((swept.lapsed, swept.concerns), (1, 1));
    kit.expect(&[("a", "CRASH_CONCERN")]).await;
    assert_eq!(kit.names(&["n"], 9).await, [""; 0]);
    assert!(kit.sweep().await.in_concern.contains(&kit.id("a")), "every sweep says so");
    kit.submit(&[kit.after("waits", "m", &[kit.on("a")])]).await;
    let asked = [kit.id("waits"), kit.id("a"), kit.id("nowhere")];
    let waiters = kit.upkeep().job_waiters(&asked).await.expect("waiters");
    assert_eq!(waiters, [(kit.id("a"), kit.id("waits"))]);
    let (name, waits) = (kit.id("a"), kit.id("waits"));
    let said = format!("job {name} is in crash concern, and job {waits} waits for it");
    let found = kit.cx.backend().check().await.expect("a check");
    assert!(found.iter().any(|sentence| sentence.contains(&said)), "{found:?}");
    let jobs = [kit.id("a"), kit.id("a"), kit.id("nowhere")];
    let cleared = kit.jobs().clear_concern(&jobs, "me").await.expect("answers");
    let expected = [ConcernCleared::Cleared, ConcernCleared::NoConcern, ConcernCleared::Unknown];
    assert_eq!(cleared, expected);
    assert!(!kit.sweep().await.in_concern.contains(&kit.id("a")), "nobody has to decide any more");
    assert_eq!(kit.record("a").await.summary.row.streak, 0);
    kit.take("a", "n").await;
    kit.jobs().set_job_settings(settings).await.expect("settings can be set");
}

async fn crash(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&[NewJob { max_attempts: Some(2), ..kit.keyed("a", "n", "k") }]).await;
    kit.submit(&[kit.keyed("b", "n", "k")]).await;
    kit.take("a", "n").await;
    kit.pass(61).await;
    let zombie = kit.take("a", "n").await;
    kit.pass(61).await;
    assert_eq!(kit.sweep().await.lapses.ended, 1);
    kit.expect(&[("a", "crashed"), ("b", "READY")]).await;
    for verdict in [done(), failed(0), JobVerdict::Released] {
        assert_eq!(kit.settle(&zombie, verdict).await, JobSettled::Fenced);
    }
    kit.take("b", "n").await;
}

async fn threshold(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let settings = kit.jobs().job_settings().await.expect("settings");
    let names = ["ready", "asleep", "leased", "head"];
    let (ready, asleep, leased) =
        (kit.job("ready", "r"), kit.job("asleep", "s"), kit.job("leased", "l"));
    kit.submit(&[ready, asleep, leased, kit.keyed("head", "h", "k"), kit.keyed("next", "h", "k")])
        .await;
    for _ in 0..2 {
        for (name, need) in names.into_iter().zip(["r", "s", "l", "h"]) {
            kit.take(name, need).await;
        }
        kit.pass(61).await;
        kit.sweep().await;
    }
    let asleep = kit.take("asleep", "s").await;
    kit.settle(&asleep, failed(3_600)).await;
    let leased = kit.take("leased", "l").await;
    let low = JobSettings { crash_threshold: 1, ..settings };
    kit.jobs().set_job_settings(low).await.expect("settings can be set");
    kit.expect(&[("ready", "CRASH_CONCERN"), ("asleep", "AWAITING_FUTURE")]).await;
    kit.expect(&[("leased", "ACTIVE"), ("head", "CRASH_CONCERN")]).await;
    kit.settle(&leased, JobVerdict::Released).await;
    kit.expect(&[("leased", "CRASH_CONCERN")]).await;
    assert_eq!(kit.trace("leased").await.last(), Some(&"concern"));
    kit.pass(3_601).await;
    kit.expect(&[("asleep", "CRASH_CONCERN")]).await;
    assert_eq!(kit.names(&["r", "s", "l"], 9).await, [""; 0]);
    assert_eq!(kit.names(&["h"], 9).await, ["next"], "the next of its key goes on");
    kit.jobs().set_job_settings(settings).await.expect("settings can be set");
    kit.expect(&[("ready", "READY"), ("asleep", "READY"), ("leased", "READY")]).await;
    for (name, need) in [("ready", "r"), ("asleep", "s"), ("leased", "l")] {
        kit.take(name, need).await;
    }
}
