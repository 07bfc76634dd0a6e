//! What people do.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{
    HandOver, JobOutcome, JobStatus, Moment, NewJob, Operated, Redriven, Unheld,
};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::{JobKit, failed};

pub(crate) const CHECKS: &[Check] = &[
    check!("J25", "an operator completes and reschedules what nobody has", unheld, Jobs),
    check!(
        "J26",
        "what failed or crashed is redriven, at a rate, with a fresh budget",
        redrives,
        Jobs
    ),
];

async fn unheld(cx: Arc<Cx>) {
    for is_complete in [true, false] {
        let kit = JobKit::new(&cx);
        let hour = Some(Moment::In(Duration::from_hours(1)));
        let zero = Some(Moment::In(Duration::ZERO));
        kit.submit(&[
            kit.job("ready", "n"),
            NewJob { expires: zero, ..kit.job("expired", "n") },
            NewJob { wake: hour, ..kit.job("sleeping", "n") },
            kit.after("waiting", "n", &[kit.on("sleeping")]),
            kit.job("leased", "l"),
            kit.after("follows", "n", &[kit.on("ready")]),
        ])
        .await;
        kit.take("leased", "l").await;
        let act = if is_complete {
            Unheld::Complete(json!([1]))
        } else {
            Unheld::Reschedule(HandOver { payload: Some(json!(2)), ..HandOver::to(kit.name("m")) })
        };
        for (name, expected) in [
            ("ready", Operated::Applied),
            ("expired", Operated::Applied),
            ("sleeping", Operated::NotAllowed(JobStatus::AwaitingFuture)),
            ("waiting", Operated::NotAllowed(JobStatus::PendingJobs)),
            ("leased", Operated::NotAllowed(JobStatus::Active)),
            ("nowhere", Operated::Unknown),
        ] {
            let answer = kit.jobs().operate(&kit.id(name), "me", &act).await.expect("an answer");
            assert_eq!(answer, expected, "{name}");
        }
        kit.pass(100).await;
        let answer = kit.jobs().operate(&kit.id("leased"), "me", &act).await.expect("an answer");
        assert_eq!(answer, Operated::Applied, "its lease has lapsed");
        let record = kit.record("ready").await;
        if is_complete {
            assert_eq!(
                (record.summary.standing.to_string().as_str(), record.output),
                ("done", Some(json!([1])))
            );
            kit.expect(&[("follows", "READY")]).await;
        } else {
            assert_eq!((kit.short(&record.summary.row.need), record.payload), ("m", json!(2)));
            kit.expect(&[("follows", "PENDING_JOBS")]).await;
        }
    }
}

async fn redrives(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(
        &["a", "b", "c"].map(|name| NewJob { max_attempts: Some(1), ..kit.keyed(name, "n", "k") }),
    )
    .await;
    for name in ["a", "b"] {
        let hold = kit.take(name, "n").await;
        kit.settle(&hold, failed(60)).await;
    }
    kit.take("c", "n").await;
    kit.pass(61).await;
    kit.sweep().await;
    kit.submit(&[kit.job("live", "n"), kit.job("gone", "n")]).await;
    kit.cancel("gone").await;
    kit.expect(&[("a", "failed"), ("b", "failed"), ("c", "crashed")]).await;
    let jobs = ["a", "live", "b", "gone", "c", "nowhere", "a"].map(|name| kit.id(name));
    let answers =
        kit.jobs().redrive_jobs(&jobs, "me", Duration::from_hours(1)).await.expect("answers");
    let again = Redriven::Redriven;
    let gone = Redriven::Ended(JobOutcome::Cancelled);
    assert_eq!(
        answers,
        [again, Redriven::Live, again, gone, again, Redriven::Unknown, Redriven::Live]
    );
    kit.expect(&[("a", "READY"), ("b", "AWAITING_FUTURE"), ("c", "AWAITING_FUTURE")]).await;
    let record = kit.record("a").await;
    assert_eq!(
        (record.summary.row.attempts, record.summary.row.failures),
        (1, 1),
        "history is kept"
    );
    assert_eq!(record.payload, json!({ "of": "a" }));
    assert_eq!(record.summary.ended_at, None);
    let a = kit.take("a", "n").await;
    kit.finish(&a).await;
    kit.pass(3700).await;
    assert_eq!(kit.names(&["n"], 9).await, ["b", "live"]);
    assert_eq!(
        kit.trace("a").await,
        ["submitted", "claimed", "failed", "redriven", "claimed", "finished"]
    );
}
