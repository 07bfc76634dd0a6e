//! New jobs.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{
    HandOver, JobClaim, JobProblem, JobRetry, JobSettled, JobVerdict, LONGEST, Moment, NewJob,
    Operated, Submitted, Unheld, Wait,
};
use pgflow_machine::{PayloadError, RunId, Timestamp};
use pgflow_runtime::backend::BackendError;
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::{JobKit, fatal_job};

pub(crate) const CHECKS: &[Check] = &[
    check!("J01", "a job's name is used once, also after its end", names, Jobs),
    check!("J02", "bad input gets a typed problem and changes nothing", bad_input, Jobs),
    check!("J03", "a new job stands where it says, and comes back as it went in", begins, Jobs),
    check!("J04", "names and keys are data: nothing in them is special", data, Jobs),
    check!("J48", "a time that no clock will show is refused, and changes nothing", times, Jobs),
];

async fn names(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let twice = [kit.job("a", "n"), NewJob { payload: json!(2), ..kit.job("a", "m") }];
    let answers = kit.try_submit(&twice).await;
    assert_eq!(answers, [Ok(Submitted::Submitted), Ok(Submitted::Exists)]);
    assert_eq!(kit.record("a").await.payload, json!({ "of": "a" }), "the first counts");
    assert_eq!(kit.try_submit(&twice[1..]).await, [Ok(Submitted::Exists)]);
    let a = kit.take("a", "n").await;
    kit.finish(&a).await;
    assert_eq!(kit.try_submit(&twice[..1]).await, [Ok(Submitted::Exists)], "it is archived");
    kit.expect(&[("a", "done")]).await;
}

async fn bad_input(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let bad = [
        NewJob { need: String::new(), ..kit.job("a", "n") },
        NewJob { need: "x".repeat(129), ..kit.job("b", "n") },
        NewJob { key: Some("k\0".into()), ..kit.job("c", "n") },
        NewJob { max_attempts: Some(0), ..kit.job("d", "n") },
        NewJob { payload: json!(["\0"]), ..kit.job("e", "n") },
        NewJob { payload: "x".repeat(5 << 20).into(), ..kit.job("f", "n") },
        kit.after("g", "n", &[kit.on("g")]),
        kit.after("h", "n", &[kit.on("nowhere")]),
        kit.after("i", "n", &[Wait::run(RunId::new())]),
        kit.job("fine", "n"),
        kit.after("j", "n", &[kit.on("later")]),
        kit.job("later", "n"),
    ];
    let answers = kit.try_submit(&bad).await;
    let problem = |at: usize| answers[at].clone().expect_err("it is refused");
    assert!(matches!(problem(0), JobProblem::Name { what: "need", .. }));
    assert!(matches!(problem(1), JobProblem::Name { what: "need", .. }));
    assert!(matches!(problem(2), JobProblem::Name { what: "key", .. }));
    assert_eq!(problem(3), JobProblem::NoAttempts);
    let nul = |source: &PayloadError| matches!(source, PayloadError::Nul { .. });
    assert!(matches!(problem(4), JobProblem::Payload { source, .. } if nul(&source)));
    let large = |source: &PayloadError| matches!(source, PayloadError::TooLarge { .. });
    assert!(matches!(problem(5), JobProblem::Payload { source, .. } if large(&source)));
    assert_eq!(problem(6), JobProblem::WaitsForItself);
    assert!(matches!(problem(7), JobProblem::UnknownDependency(_)));
    assert!(matches!(problem(8), JobProblem::UnknownDependency(_)));
    assert_eq!(answers[9], Ok(Submitted::Submitted), "one does not keep the others out");
    assert!(matches!(problem(10), JobProblem::UnknownDependency(_)), "only what is before it");
    assert_eq!(kit.names(&["n"], 100).await, ["fine", "later"]);
    for needs in [Vec::new(), vec![String::new()]] {
        let mut claim = kit.wish(&["n"], 1);
        claim.needs = needs;
        kit.jobs().claim_jobs(&claim).await.expect_err("no need");
    }
    kit.jobs().claim_jobs(&kit.wish(&["n"], 0)).await.expect_err("no room");
    let mut claim = kit.wish(&["n"], 1);
    claim.lease = Duration::ZERO;
    kit.jobs().claim_jobs(&claim).await.expect_err("a lease that is over at once");
    kit.jobs().beat_jobs(&[], Duration::ZERO).await.expect_err("a beat that ends it");
}

async fn begins(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let minute = Some(Moment::In(Duration::from_mins(1)));
    let payload =
        json!({ "text": "é\u{1f600}\n\"'\\", "numbers": [1, -2.5, 1e20, null], "deep": [[[{}]]] });
    kit.submit(&[
        NewJob { payload: payload.clone(), priority: -3, ..kit.keyed("ready", "n", "k") },
        NewJob { wake: minute, ..kit.job("asleep", "n") },
        NewJob { expires: Some(Moment::In(Duration::ZERO)), ..kit.job("over", "n") },
        kit.after("waits", "n", &[kit.on("ready")]),
        NewJob { wake: minute, expires: minute, ..kit.after("both", "n", &[kit.on("ready")]) },
    ])
    .await;
    kit.expect(&[
        ("ready", "READY"),
        ("asleep", "AWAITING_FUTURE"),
        ("over", "EXPIRED"),
        ("waits", "PENDING_JOBS"),
        ("both", "AWAITING_FUTURE"),
    ])
    .await;
    let record = kit.record("ready").await;
    assert_eq!(record.payload, payload);
    let row = record.summary.row;
    assert_eq!((row.priority, row.attempts, row.max_attempts), (-3, 0, None));
    assert_eq!(
        (kit.short(&row.need), row.key.as_deref().map(|key| kit.short(key))),
        ("n", Some("k"))
    );
    let both = kit.record("both").await;
    assert_eq!(both.waits_for, [kit.on("ready")]);
    assert!(both.summary.row.wake_at.is_some() && both.summary.row.expires_at.is_some());
    assert!(kit.jobs().job(&kit.id("nowhere")).await.expect("a look").is_none());
}

async fn data(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let names = [
        "gpu:0",
        "gpu_0",
        "GPU:0",
        "gpu:0 ",
        " gpu:0",
        "gpu'; drop table x;--",
        "é",
        "e\u{301}",
        "%",
        "\\",
        "\"",
    ];
    for name in names {
        kit.submit(&[kit.keyed(name, name, name)]).await;
    }
    for name in names {
        let hold = kit.take(name, name).await;
        assert_eq!(kit.names(&[name], 9).await, [""; 0], "{name} is one need of its own");
        let record = kit.record(name).await.summary.row;
        let key = record.key.as_deref().map(|key| kit.short(key));
        assert_eq!((kit.short(&record.need), key), (name, Some(name)));
        assert_eq!(
            kit.beat(std::slice::from_ref(&hold)).await,
            [pgflow_machine::job::JobBeat::Extended]
        );
    }
}

async fn times(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let far = [
        Moment::In(Duration::MAX),
        Moment::In(LONGEST + Duration::from_nanos(1)),
        Moment::At(Timestamp::from_micros(i64::MAX)),
        Moment::At(Timestamp::from_micros(i64::MIN)),
    ];
    for moment in far {
        let bad = [
            NewJob { wake: Some(moment), ..kit.job("wakes", "n") },
            NewJob { expires: Some(moment), ..kit.job("expires", "n") },
        ];
        for answer in kit.try_submit(&bad).await {
            assert!(matches!(answer, Err(JobProblem::Time(_))), "{moment:?}: {answer:?}");
        }
    }
    assert_eq!(kit.jobs().job(&kit.id("wakes")).await.expect("an answer"), None);
    let long = JobClaim { lease: Duration::MAX, ..kit.wish(&["n"], 1) };
    kit.submit(&[kit.job("a", "n"), kit.job("dead", "d")]).await;
    assert!(is_time(&kit.jobs().claim_jobs(&long).await));
    let hold = kit.take("a", "n").await;
    let holds = std::slice::from_ref(&hold);
    assert!(is_time(&kit.jobs().beat_jobs(holds, Duration::MAX).await));
    let retry = JobRetry::After(Duration::MAX);
    let mut verdicts = vec![JobVerdict::Failed { error: "no".into(), retry }];
    for moment in far {
        let to = HandOver { wake: Some(moment), ..HandOver::to(kit.name("n")) };
        verdicts.push(JobVerdict::HandedOver(to));
    }
    for verdict in verdicts {
        let settled = kit.settle(&hold, verdict).await;
        assert!(matches!(settled, JobSettled::Refused(JobProblem::Time(_))), "{settled:?}");
    }
    kit.expect(&[("a", "ACTIVE")]).await;
    kit.settle(&hold, JobVerdict::Released).await;
    let to = HandOver { wake: Some(far[0]), ..HandOver::to(kit.name("n")) };
    let act = Unheld::Reschedule(to);
    let operated = kit.jobs().operate(&kit.id("a"), "me", &act).await.expect("an answer");
    assert!(matches!(operated, Operated::Refused(JobProblem::Time(_))), "{operated:?}");
    let dead = kit.take("dead", "d").await;
    assert_eq!(kit.settle(&dead, fatal_job()).await, JobSettled::Applied);
    let redriven = kit.jobs().redrive_jobs(&[kit.id("dead")], "me", Duration::MAX).await;
    assert!(is_time(&redriven));
    kit.expect(&[("a", "READY"), ("dead", "failed")]).await;
    // The last that there are.
    let last = Moment::At(Timestamp::from_micros(253_370_764_800_000_000));
    let both = [("span", Moment::In(LONGEST)), ("moment", last)];
    for (name, moment) in both {
        let (wake, expires) = (Some(moment), Some(moment));
        kit.submit(&[NewJob { wake, expires, ..kit.job(name, "later") }]).await;
        kit.expect(&[(name, "AWAITING_FUTURE")]).await;
    }
}

fn is_time<T>(answer: &Result<T, BackendError>) -> bool {
    matches!(answer, Err(BackendError::Job(JobProblem::Time(_))))
}
