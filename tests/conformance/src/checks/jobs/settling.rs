//! How attempts end.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{
    HandOver, JobCancelled, JobHold, JobProblem, JobSettle, JobSettled, JobToken, JobVerdict,
    Moment, NewJob,
};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::{JobKit, done, failed, fatal_job, hand_over};

pub(crate) const CHECKS: &[Check] = &[
    check!("J09", "every standing meets every verdict", table, Jobs),
    check!("J10", "a failure is counted until the attempts are used up", failures, Jobs),
    check!("J11", "a hand-over keeps place, key and expiry, or leaves the lease", hands_over, Jobs),
    check!("J12", "what is released counts nothing", releases, Jobs),
    check!("J13", "a cancelled job may finish, and otherwise ends with its lease", cancels, Jobs),
];

const STANDINGS: &[&str] = &[
    "ready",
    "sleeping",
    "parked",
    "leased",
    "cancelled",
    "lapsed",
    "claimed again",
    "failed before",
    "archived",
    "nowhere",
];

/// A job `a` in this standing, and the hold that its worker has or had.
async fn standing(kit: &JobKit, of: &str) -> JobHold {
    let never = JobHold { job: kit.id("a"), token: JobToken::new() };
    let hour = Some(Moment::In(Duration::from_hours(1)));
    match of {
        "nowhere" => return never,
        "ready" => kit.submit(&[kit.job("a", "n")]).await,
        "sleeping" => kit.submit(&[NewJob { wake: hour, ..kit.job("a", "n") }]).await,
        "parked" => kit.submit(&[kit.keyed("b", "n", "k"), kit.keyed("a", "n", "k")]).await,
        _ => {
            kit.submit(&[NewJob { max_attempts: Some(3), ..kit.keyed("a", "n", "k") }]).await;
            let hold = kit.take("a", "n").await;
            match of {
                "cancelled" => drop(kit.cancel("a").await),
                "lapsed" => kit.pass(100).await,
                "claimed again" => {
                    kit.pass(100).await;
                    kit.take("a", "n").await;
                }
                "failed before" => drop(kit.settle(&hold, failed(60)).await),
                "archived" => kit.finish(&hold).await,
                _ => {}
            }
            return hold;
        }
    }
    never
}

fn expected(of: &str, is_finish: bool) -> JobSettled {
    match of {
        "leased" | "lapsed" => JobSettled::Applied,
        "cancelled" if is_finish => JobSettled::Applied,
        "cancelled" => JobSettled::Cancelled,
        "failed before" | "archived" => JobSettled::AlreadySettled,
        "nowhere" => JobSettled::Unknown,
        _ => JobSettled::Fenced,
    }
}

async fn table(cx: Arc<Cx>) {
    for of in STANDINGS {
        for at in 0..5 {
            let kit = JobKit::new(&cx);
            let hold = standing(&kit, of).await;
            let other = JobHold { job: hold.job.clone(), token: JobToken(String::new()) };
            let verdict =
                [done(), failed(0), fatal_job(), hand_over(&kit, "m", &[]), JobVerdict::Released]
                    [at]
                    .clone();
            let read = || async { kit.jobs().job(&hold.job).await.expect("a look") };
            let before = read().await;
            let outcome = kit.settle(&other, verdict.clone()).await;
            assert!(
                matches!(outcome, JobSettled::Fenced | JobSettled::Unknown),
                "{of}: {outcome:?}"
            );
            assert_eq!(read().await, before, "an empty token opens nothing");
            let outcome = kit.settle(&hold, verdict.clone()).await;
            assert_eq!(outcome, expected(of, at == 0), "{of}: {verdict:?}");
            if matches!(outcome, JobSettled::Applied | JobSettled::Cancelled) {
                let after = read().await;
                let again = kit.settle(&hold, verdict).await;
                assert_eq!(
                    again,
                    JobSettled::AlreadySettled,
                    "{of}: the answer may have been lost"
                );
                assert_eq!(read().await, after);
            } else {
                assert_eq!(read().await, before, "{of}: {verdict:?}");
            }
        }
    }
}

async fn failures(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&[NewJob { max_attempts: Some(2), ..kit.job("a", "n") }, kit.job("b", "m")]).await;
    let a = kit.take("a", "n").await;
    assert_eq!(kit.settle(&a, failed(60)).await, JobSettled::Applied);
    let summary = kit.record("a").await.summary;
    assert_eq!((summary.row.failures, summary.error.as_deref()), (1, Some("no")));
    kit.expect(&[("a", "AWAITING_FUTURE")]).await;
    assert_eq!(kit.names(&["n"], 9).await, [""; 0]);
    kit.pass(61).await;
    let a = kit.take("a", "n").await;
    kit.settle(&a, failed(60)).await;
    kit.expect(&[("a", "failed")]).await;
    let summary = kit.record("a").await.summary;
    assert_eq!((summary.row.attempts, summary.row.failures), (2, 2));
    assert!(summary.ended_at.is_some());
    assert_eq!(kit.trace("a").await, ["submitted", "claimed", "failed", "claimed", "failed"]);
    let b = kit.take("b", "m").await;
    kit.settle(&b, fatal_job()).await;
    kit.expect(&[("b", "failed")]).await;
    assert_eq!(kit.record("b").await.summary.error.as_deref(), Some("never"));
}

async fn hands_over(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let hour = Some(Moment::In(Duration::from_hours(1)));
    let first = NewJob { max_attempts: Some(1), expires: hour, ..kit.keyed("a", "n", "k") };
    kit.submit(&[first, kit.job("b", "m")]).await;
    let before = kit.record("a").await.summary.row;
    let a = kit.take("a", "n").await;
    let need = kit.name("m");
    let bad = [
        HandOver::to(""),
        HandOver { payload: Some(json!("\0")), ..HandOver::to(&need) },
        HandOver { after: vec![kit.on("a")], ..HandOver::to(&need) },
        HandOver { after: vec![kit.on("nowhere")], ..HandOver::to(&need) },
        HandOver { max_attempts: Some(0), ..HandOver::to(&need) },
    ];
    for to in bad {
        let outcome = kit.settle(&a, JobVerdict::HandedOver(to)).await;
        assert!(matches!(outcome, JobSettled::Refused(_)), "{outcome:?}");
    }
    kit.expect(&[("a", "ACTIVE")]).await;
    let to = HandOver { payload: Some(json!(7)), max_attempts: Some(2), ..HandOver::to(need) };
    assert_eq!(kit.settle(&a, JobVerdict::HandedOver(to)).await, JobSettled::Applied);
    let record = kit.record("a").await;
    let row = record.summary.row;
    assert_eq!((row.seq, row.key, row.expires_at), (before.seq, before.key, before.expires_at));
    assert_eq!((record.payload, kit.short(&row.need)), (json!(7), "m"));
    let claimed = kit.claim(&["m"], 9).await;
    let names: Vec<_> = claimed.iter().map(|job| kit.short(job.taken.hold.job.as_str())).collect();
    assert_eq!(names, ["a", "b"], "it keeps its place");
    assert_eq!(claimed[0].payload, json!(7));
    kit.settle(&claimed[0].taken.hold, failed(0)).await;
    kit.expect(&[("a", "READY")]).await;
    let again = kit.settle(&claimed[1].taken.hold, hand_over(&kit, "n", &[])).await;
    assert_eq!(again, JobSettled::Applied);
    assert_eq!(kit.record("b").await.payload, json!({ "of": "b" }), "without one it stays");
}

async fn releases(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&[NewJob { max_attempts: Some(1), ..kit.job("a", "n") }]).await;
    for _ in 0..3 {
        let a = kit.take("a", "n").await;
        assert_eq!(kit.settle(&a, JobVerdict::Released).await, JobSettled::Applied);
    }
    let row = kit.record("a").await.summary.row;
    assert_eq!((row.attempts, row.failures, row.lapses, row.streak), (0, 0, 0, 0));
    let a = kit.take("a", "n").await;
    let settle = |verdict| JobSettle::new(a.clone(), verdict);
    let both = kit.settle_all(&[settle(JobVerdict::Released), settle(done())]).await;
    assert_eq!(both, [JobSettled::Applied, JobSettled::AlreadySettled], "in their order");
    let a = kit.take("a", "n").await;
    let nul = kit.settle(&a, JobVerdict::Finished(json!("\0"))).await;
    assert!(matches!(nul, JobSettled::Refused(JobProblem::Payload { .. })), "{nul:?}");
    kit.finish(&a).await;
    assert_eq!(kit.record("a").await.output, Some(json!("out")));
}

async fn cancels(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&["a", "b", "c", "d"].map(|name| kit.job(name, "n"))).await;
    let holds: Vec<_> = kit.claim(&["n"], 3).await.into_iter().map(|job| job.taken.hold).collect();
    for name in ["a", "b", "c", "a"] {
        assert_eq!(kit.cancel(name).await, JobCancelled::Asked);
    }
    assert_eq!(kit.cancel("d").await, JobCancelled::Cancelled);
    assert!(matches!(kit.cancel("d").await, JobCancelled::Ended(_)));
    assert_eq!(kit.cancel("nowhere").await, JobCancelled::Unknown);
    kit.finish(&holds[0]).await;
    let outcome = kit.settle(&holds[1], hand_over(&kit, "m", &[])).await;
    assert_eq!(outcome, JobSettled::Cancelled);
    kit.pass(100).await;
    assert_eq!(kit.names(&["n", "m"], 9).await, [""; 0], "the claim ended the last");
    kit.expect(&[("a", "done"), ("b", "cancelled"), ("c", "cancelled"), ("d", "cancelled")]).await;
    let asked = kit.record("c").await.summary.row.cancel.expect("it says who");
    assert_eq!((asked.by.as_str(), asked.reason.as_deref()), ("me", Some("why not")));
}
