//! What claims take, and leases that last longer.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobBeat, JobHold, JobToken, Moment, NewJob};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::JobKit;

pub(crate) const CHECKS: &[Check] = &[
    check!("J05", "priority first, then place; only needs that are asked for", order, Jobs),
    check!("J06", "a sleeper is had when it is due, and a claim says when that is", asleep, Jobs),
    check!("J07", "what has expired is not leased, and the sweep ends it", expired, Jobs),
    check!("J08", "a heartbeat extends what its token holds, and nothing else", beats, Jobs),
    check!(
        "J46",
        "a claim hands out so many bytes at once, and the rest with the next",
        heavy,
        Jobs
    ),
];

async fn order(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let urgent = NewJob { priority: 5, ..kit.job("c", "n") };
    let last = NewJob { priority: -1, ..kit.job("d", "n") };
    kit.submit(&[last, kit.job("b", "n"), kit.job("a", "n"), urgent, kit.job("other", "m")]).await;
    let claimed = kit.claim(&["n"], 2).await;
    let names: Vec<_> = claimed.iter().map(|job| kit.short(job.taken.hold.job.as_str())).collect();
    assert_eq!(names, ["c", "b"]);
    assert_eq!(claimed[0].payload, json!({ "of": "c" }));
    assert_eq!(claimed[0].taken.row.attempts, 1);
    assert_ne!(claimed[0].taken.hold.token, claimed[1].taken.hold.token);
    kit.expect(&[("c", "ACTIVE"), ("a", "READY")]).await;
    assert_eq!(kit.names(&["n", "m"], 9).await, ["a", "other", "d"]);
    assert_eq!(kit.names(&["n", "m"], 9).await, [""; 0]);
}

async fn asleep(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let hour = Some(Moment::In(Duration::from_hours(1)));
    let day = Some(Moment::In(Duration::from_hours(24)));
    kit.submit(&[
        NewJob { wake: day, ..kit.job("b", "n") },
        NewJob { wake: hour, ..kit.job("a", "n") },
        NewJob { wake: hour, ..kit.job("other", "m") },
    ])
    .await;
    let nothing = kit.look(&["n"], 9).await;
    assert_eq!(nothing.jobs, []);
    let next = nothing.next_in.expect("the next is known").as_secs();
    assert!((3000..=3600).contains(&next), "{next} s until the first wakes");
    kit.pass(3700).await;
    kit.expect(&[("a", "READY"), ("b", "AWAITING_FUTURE")]).await;
    assert_eq!(kit.names(&["n"], 9).await, ["a"]);
    let held = kit.look(&["n"], 9).await.next_in.expect("a lease lapses").as_secs();
    assert!(held <= 60, "{held} s until the lease lapses");
}

async fn expired(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let hour = Some(Moment::In(Duration::from_hours(1)));
    kit.submit(&[
        NewJob { expires: hour, ..kit.keyed("a", "n", "k") },
        kit.keyed("b", "n", "k"),
        NewJob { expires: hour, ..kit.after("waits", "n", &[kit.on("b")]) },
        NewJob { expires: hour, ..kit.job("held", "h") },
    ])
    .await;
    let held = kit.take("held", "h").await;
    kit.pass(3700).await;
    kit.expect(&[("a", "EXPIRED"), ("waits", "PENDING_JOBS")]).await;
    assert_eq!(kit.beat(std::slice::from_ref(&held)).await, [JobBeat::Extended]);
    let b = kit.claim(&["n"], 9).await;
    assert_eq!(b.len(), 1, "the head is over, the next goes");
    assert_eq!(kit.sweep().await.expired, 2);
    assert_eq!(kit.sweep().await.expired, 0, "once");
    kit.expect(&[("a", "expired"), ("waits", "expired"), ("b", "ACTIVE"), ("held", "ACTIVE")])
        .await;
    kit.finish(&held).await;
}

async fn beats(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&[kit.job("a", "n"), kit.job("b", "n"), kit.job("c", "other")]).await;
    let holds: Vec<_> = kit.claim(&["n"], 2).await.into_iter().map(|job| job.taken.hold).collect();
    kit.cancel("b").await;
    let with =
        |name: &str, token: &str| JobHold { job: kit.id(name), token: JobToken(token.into()) };
    let asked = [
        holds[0].clone(),
        holds[1].clone(),
        JobHold { job: kit.id("a"), token: holds[1].token.clone() },
        with("a", ""),
        with("c", ""),
        with("nowhere", "null"),
        holds[0].clone(),
    ];
    let beats = kit.beat(&asked).await;
    let lost = JobBeat::Lost;
    assert_eq!(
        beats,
        [JobBeat::Extended, JobBeat::Cancelled, lost, lost, lost, lost, JobBeat::Extended]
    );
    kit.pass(40).await;
    kit.beat(&holds).await;
    kit.pass(40).await;
    let swept = kit.sweep().await.lapses;
    assert_eq!((swept.lapsed, swept.ended), (1, 1), "b was not extended, and ended cancelled");
    kit.expect(&[("a", "ACTIVE"), ("b", "cancelled")]).await;
}

/// What a claim hands out at most, unless it is one job.
const AT_ONCE: usize = 64_000_000;

async fn heavy(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let (bytes, jobs) = (3_900_000, cx.rounds(18, 300));
    let heavy = |n: usize| {
        let payload = json!({ "of": "x".repeat(bytes) });
        NewJob { payload, ..kit.job(&format!("h{n:03}"), "n") }
    };
    for n in 0..jobs {
        kit.submit(&[heavy(n)]).await;
    }
    // A light one behind them waits, and one before them does not keep them waiting.
    let first = NewJob { priority: 1, ..kit.job("first", "m") };
    kit.submit(&[kit.job("light", "n"), first]).await;
    let fit = AT_ONCE / bytes;
    let mut had = Vec::new();
    while had.len() < jobs + 2 {
        let claimed = kit.claim(&["n", "m"], 400).await;
        assert!(!claimed.is_empty(), "a claim gets on: {} of {jobs}", had.len());
        assert!(claimed.len() <= fit + 2, "{} jobs at once", claimed.len());
        for job in claimed {
            had.push(kit.short(job.taken.hold.job.as_str()).to_owned());
            kit.finish(&job.taken.hold).await;
        }
    }
    let line = (0..jobs).map(|n| format!("h{n:03}"));
    let line: Vec<_> = std::iter::once("first".to_owned()).chain(line).collect();
    assert_eq!(had[..=jobs], line, "in the order of the line");
    assert_eq!(had[jobs + 1], "light");
}
