//! Who waits for whom.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{
    JobId, JobProblem, JobSettle, JobSettled, Moment, NewJob, Policy, RING_WALK, Wait,
};
use pgflow_machine::{NewRun, RunId};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::jobs::{JobKit, done, fatal_job, hand_over};
use crate::kit::{Cx, completed, fatal, single};

pub(crate) const CHECKS: &[Check] = &[
    check!("J20", "every policy meets every end, before and after", policies, Jobs),
    check!("J21", "the end of a run releases who waits for it", runs, Jobs),
    check!("J22", "an end is passed on however far", chains, Jobs),
    check!("J23", "a join counts its children down", joins, Jobs),
    check!("J24", "a job does not wait for what waits for it", rings, Jobs),
    check!("J44", "a ring that slipped through is reported by the sweep", reported, Jobs),
    check!("J45", "who waits for a run of a deleted version goes on", deleted, Jobs),
];

const ENDS: &[&str] = &["done", "failed", "cancelled", "expired", "crashed"];

async fn end(kit: &JobKit, name: &str, how: &str) {
    match how {
        "done" | "failed" => {
            let hold = kit.take(name, "first").await;
            let verdict = if how == "done" { done() } else { fatal_job() };
            assert_eq!(kit.settle(&hold, verdict).await, JobSettled::Applied);
        }
        "cancelled" => drop(kit.cancel(name).await),
        "expired" => {
            kit.pass(4000).await;
            kit.sweep().await;
        }
        _ => {
            kit.take(name, "first").await;
            kit.pass(61).await;
            kit.sweep().await;
        }
    }
    kit.expect(&[(name, how)]).await;
}

async fn policies(cx: Arc<Cx>) {
    for how in ENDS {
        for is_before in [true, false] {
            let kit = JobKit::new(&cx);
            let expires = Some(Moment::In(Duration::from_hours(1)));
            kit.submit(&[NewJob { max_attempts: Some(1), expires, ..kit.job("d", "first") }]).await;
            let waiters = ["release", "fail", "cancel"].map(|name| {
                let policy = Policy::from_word(name).expect("a policy");
                kit.after(name, "n", &[kit.on("d").or(policy)])
            });
            if is_before {
                end(&kit, "d", how).await;
                kit.submit(&waiters).await;
            } else {
                kit.submit(&waiters).await;
                kit.expect(&[("release", "PENDING_JOBS"), ("fail", "PENDING_JOBS")]).await;
                end(&kit, "d", how).await;
            }
            let takes_along = *how != "done";
            kit.expect(&[
                ("release", "READY"),
                ("fail", if takes_along { "failed" } else { "READY" }),
                ("cancel", if takes_along { "cancelled" } else { "READY" }),
            ])
            .await;
            if takes_along {
                let error = kit.record("fail").await.summary.error.expect("it says why");
                assert_eq!(error, format!("dependency {} ended {how}", kit.id("d")));
            }
        }
    }
}

async fn runs(cx: Arc<Cx>) {
    for how in ["completed", "failed", "cancelled"] {
        let kit = JobKit::new(&cx);
        let flow = cx.flow([single("a")]).await;
        let run = cx.start(&flow, json!({})).await;
        let wait = |policy| Wait::run(run.id).or(policy);
        kit.submit(&[
            kit.after("any", "n", &[wait(Policy::Release)]),
            kit.after("strict", "n", &[wait(Policy::Fail)]),
        ])
        .await;
        kit.expect(&[("any", "PENDING_JOBS"), ("strict", "PENDING_JOBS")]).await;
        match how {
            "cancelled" => {
                cx.backend().cancel(run.id, None).await.expect("a run can be cancelled");
            }
            how => {
                let [task] = run.take(["a#0"]).await;
                let verdict = if how == "failed" { fatal("no") } else { completed(1) };
                cx.settle(&task.lease, verdict).await;
            }
        }
        let strict = if how == "completed" { "READY" } else { "failed" };
        kit.expect(&[("any", "READY"), ("strict", strict)]).await;
        kit.submit(&[kit.after("late", "n", &[wait(Policy::Fail)])]).await;
        kit.expect(&[("late", strict)]).await;
    }
}

async fn chains(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let mut jobs = vec![kit.job("j0", "first")];
    for n in 1..12 {
        let policy = if n % 2 == 0 { Policy::Fail } else { Policy::Cancel };
        let before = kit.on(&format!("j{}", n - 1)).or(policy);
        jobs.push(kit.after(&format!("j{n}"), "n", &[before]));
    }
    jobs.push(kit.after("last", "n", &[kit.on("j11")]));
    kit.submit(&jobs).await;
    end(&kit, "j0", "failed").await;
    kit.expect(&[("j1", "cancelled"), ("j2", "failed"), ("j11", "cancelled"), ("last", "READY")])
        .await;
}

async fn joins(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let many = cx.rounds(60, 10_000);
    kit.submit(&[kit.job("parent", "p")]).await;
    let parent = kit.take("parent", "p").await;
    let children: Vec<_> = (0..many).map(|n| kit.job(&format!("c{n}"), "child")).collect();
    for part in children.chunks(500) {
        kit.submit(part).await;
    }
    let waits: Vec<_> = children.iter().map(|child| Wait::job(child.id.clone())).collect();
    assert_eq!(kit.settle(&parent, hand_over(&kit, "p", &waits)).await, JobSettled::Applied);
    let mut left = many;
    while left > 0 {
        assert_eq!(kit.record("parent").await.summary.row.waits as usize, left);
        let claimed = kit.claim(&["child"], 25).await;
        let settle =
            |job: pgflow_runtime::backend::ClaimedJob| JobSettle::new(job.taken.hold, done());
        let settles: Vec<_> = claimed.into_iter().map(settle).collect();
        left -= settles.len();
        kit.settle_all(&settles).await;
    }
    kit.take("parent", "p").await;
    assert_eq!(
        kit.trace("parent").await,
        ["submitted", "claimed", "handed_over", "unblocked", "claimed"]
    );
}

async fn rings(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&[kit.job("a", "n")]).await;
    let a = kit.take("a", "n").await;
    kit.submit(&[kit.after("b", "n", &[kit.on("a")]), kit.after("c", "n", &[kit.on("b")])]).await;
    let outcome = kit.settle(&a, hand_over(&kit, "n", &[kit.on("c")])).await;
    assert_eq!(outcome, JobSettled::Refused(JobProblem::Ring(kit.on("c").on)));
    kit.expect(&[("a", "ACTIVE")]).await;
    kit.submit(&[kit.job("d", "n")]).await;
    let d = kit.take("d", "n").await;
    let settles = [
        JobSettle::new(a, hand_over(&kit, "n", &[kit.on("d")])),
        JobSettle::new(d.clone(), hand_over(&kit, "n", &[kit.on("c")])),
    ];
    let outcomes = kit.settle_all(&settles).await;
    assert_eq!(outcomes[0], JobSettled::Applied);
    assert!(matches!(outcomes[1], JobSettled::Refused(JobProblem::Ring(_))), "{outcomes:?}");
    kit.finish(&d).await;
    kit.expect(&[("a", "READY"), ("b", "PENDING_JOBS")]).await;
}

/// So long that a store does not see where it ends when it is closed. Postgres refuses it all the same.
async fn reported(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let length = RING_WALK + 50;
    kit.submit(&[kit.job("j0", "n")]).await;
    let first = kit.take("j0", "n").await;
    let waiter = |n: usize| {
        let before = kit.on(&format!("j{}", n - 1));
        kit.after(&format!("j{n}"), "n", &[before])
    };
    let jobs: Vec<_> = (1..length).map(waiter).collect();
    for part in jobs.chunks(500) {
        kit.submit(part).await;
    }
    let is_ours = |rings: &[JobId]| rings.iter().any(|job| kit.short(job.as_str()) == "j0");
    assert!(!is_ours(&kit.sweep().await.rings), "a chain is no ring");
    let last = kit.on(&format!("j{}", length - 1)).or(Policy::Cancel);
    if kit.settle(&first, hand_over(&kit, "n", &[last])).await == JobSettled::Applied {
        assert!(is_ours(&kit.sweep().await.rings), "it is reported");
        kit.cancel(&format!("j{}", length - 1)).await;
        kit.expect(&[("j0", "cancelled"), ("j1", "READY")]).await;
    }
    assert!(!is_ours(&kit.sweep().await.rings), "it is over");
}

async fn deleted(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let flow = cx.flow([single("a")]).await;
    let run = NewRun::new(&*flow, json!({}), RunId::new());
    cx.backend().start(run.clone()).await.expect("a run can be started");
    let wait = |policy| Wait::run(run.id).or(policy);
    kit.submit(&[
        kit.after("any", "n", &[wait(Policy::Release)]),
        kit.after("strict", "n", &[wait(Policy::Fail)]),
    ])
    .await;
    cx.delete_version(&flow).await;
    kit.expect(&[("any", "READY"), ("strict", "failed")]).await;
    kit.take("any", "n").await;
}
