//! What people who look after jobs are told.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobOutcome, JobSettled, JobState, Moment, NewJob};
use pgflow_runtime::backend::{JobSearch, JobsOf, NeedDepth};

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::{JobKit, done, fatal_job};

pub(crate) const CHECKS: &[Check] = &[
    check!("J60", "live jobs are counted by need and state, and by who has them", depths, Jobs),
    check!("J61", "live jobs are found by state, need and key, the last first", live, Jobs),
    check!("J62", "ended jobs are found by outcome, the last to end first", ended, Jobs),
    check!("J63", "jobs are found by the beginning of their names, live or archived", named, Jobs),
    check!("J64", "jobs that could be forgotten are counted, up to a limit", prunable, Jobs),
    check!("J65", "jobs of a need that is paused are not leased until it is resumed", paused, Jobs),
];

async fn depth(kit: &JobKit, need: &str) -> NeedDepth {
    let depths = kit.upkeep().job_depths(u64::MAX).await.expect("jobs can be counted");
    assert!(depths.needs.is_sorted_by(|a, b| a.need < b.need), "{depths:?}");
    let need = kit.name(need);
    depths.needs.into_iter().find(|depth| depth.need == need).unwrap_or_default()
}

async fn depths(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    assert_eq!(depth(&kit, "n").await, NeedDepth::default());
    let before = held(&kit).await;
    kit.submit(&["a", "b"].map(|name| kit.job(name, "n"))).await;
    let waiting = kit.after("c", "n", &[kit.on("a")]);
    let wake = Some(Moment::In(Duration::from_mins(1)));
    kit.submit(&[waiting, NewJob { wake, ..kit.job("d", "n") }]).await;
    let now = depth(&kit, "n").await;
    assert_eq!((now.ready, now.waiting, now.sleeping, now.running), (2, 1, 1, 0), "{now:?}");
    let first = now.first_ready.expect("one is ready");
    assert!(first < Duration::from_hours(1), "{first:?}");
    assert_eq!(now.first, Some(kit.id("a")), "which came first");
    kit.take("a", "n").await;
    let now = depth(&kit, "n").await;
    assert_eq!((now.ready, now.running, now.live()), (1, 1, 4), "{now:?}");
    assert_eq!(held(&kit).await, before + 1);
    kit.submit(&[kit.keyed("e", "m", "k"), kit.keyed("f", "m", "k")]).await;
    let now = depth(&kit, "m").await;
    assert_eq!((now.ready, now.parked), (1, 1), "{now:?}");
    let some = kit.upkeep().job_depths(2).await.expect("jobs can be counted");
    assert_eq!(some.needs.iter().map(NeedDepth::live).sum::<u64>(), 2, "no more are counted");
    assert!(some.is_part && !kit.upkeep().job_depths(u64::MAX).await.expect("they can").is_part);
}

async fn held(kit: &JobKit) -> u64 {
    let held = kit.upkeep().job_depths(u64::MAX).await.expect("jobs can be counted").held;
    held.get("worker").copied().unwrap_or(0)
}

async fn live(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&["a", "b"].map(|name| kit.job(name, "n"))).await;
    kit.submit(&["c", "d"].map(|name| kit.keyed(name, "n", "k"))).await;
    kit.take("a", "n").await;
    let all = JobSearch { need: Some(kit.name("n")), max: 3, ..JobSearch::default() };
    assert_eq!(kit.find(&all).await, ["d", "c", "b"]);
    let last = kit.record("b").await.summary.place();
    assert_eq!(kit.find(&JobSearch { after: Some(last), ..all.clone() }).await, ["a"]);
    let of = |state| JobSearch { state: Some(state), ..all.clone() };
    assert_eq!(kit.find(&of(JobState::Leased)).await, ["a"]);
    assert_eq!(kit.find(&of(JobState::Parked)).await, ["d"]);
    let keyed = JobSearch { key: Some(kit.name("k")), ..JobSearch::default() };
    assert_eq!(kit.find(&keyed).await, ["d", "c"]);
    let none = JobSearch { need: Some(kit.name("nothing")), ..JobSearch::default() };
    assert_eq!(kit.find(&none).await, [""; 0]);
}

async fn ended(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&["a", "b", "c", "d"].map(|name| kit.job(name, "n"))).await;
    let a = kit.take("a", "n").await;
    kit.settle(&a, fatal_job()).await;
    kit.pass(10).await;
    kit.cancel("d").await;
    kit.pass(10).await;
    let b = kit.take("b", "n").await;
    kit.finish(&b).await;
    let of = |of, max| JobSearch { of, need: Some(kit.name("n")), max, ..JobSearch::default() };
    assert_eq!(kit.find(&of(JobsOf::Ended, 10)).await, ["b", "d", "a"]);
    assert_eq!(kit.find(&of(JobsOf::EndedAs(JobOutcome::Failed), 10)).await, ["a"]);
    assert_eq!(kit.find(&of(JobsOf::EndedAs(JobOutcome::Done), 10)).await, ["b"]);
    assert_eq!(kit.find(&of(JobsOf::EndedAs(JobOutcome::Crashed), 10)).await, [""; 0]);
    let last = kit.record("b").await.summary.place();
    let next = JobSearch { after: Some(last), ..of(JobsOf::Ended, 1) };
    assert_eq!(kit.find(&next).await, ["d"]);
    assert_eq!(kit.find(&of(JobsOf::Live, 10)).await, ["c"]);
}

async fn named(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let names = ["x%", "x%y", "x_y", "xé", "X%", "xa", "x\u{10ffff}z"];
    kit.submit(&names.map(|name| kit.job(name, "n"))).await;
    kit.cancel("x%y").await;
    let found = async |beginning: &str, max| {
        let jobs = kit.upkeep().jobs_beginning(&kit.name(beginning), max).await;
        kit.shortened(&jobs.expect("jobs can be found"))
    };
    assert_eq!(found("x%", 10).await, ["x%", "x%y"]);
    assert_eq!(found("x", 10).await, ["x%", "x%y", "x_y", "xa", "xé", "x\u{10ffff}z"]);
    assert_eq!(found("x", 2).await, ["x%", "x%y"]);
    assert_eq!(found("X", 10).await, ["X%"]);
    assert_eq!(found("x\u{10ffff}", 10).await, ["x\u{10ffff}z"]);
    assert_eq!(found("y", 10).await, [""; 0]);
}

async fn prunable(cx: Arc<Cx>) {
    /// More than all other checks leave behind.
    const MANY: u64 = 1_000_000;
    let kit = JobKit::new(&cx);
    let count =
        async |age, max| kit.upkeep().prunable_jobs(age, max).await.expect("jobs can be counted");
    let before = count(Duration::ZERO, MANY).await;
    kit.submit(&["a", "b", "c"].map(|name| kit.job(name, "n"))).await;
    kit.cancel("a").await;
    kit.cancel("b").await;
    assert_eq!(count(Duration::ZERO, MANY).await, before + 2);
    assert_eq!(count(Duration::ZERO, 1).await, 1, "no more are counted");
    let ages = Duration::from_hours(24 * 365);
    assert_eq!(count(ages, MANY).await, 0, "nothing is that old");
}

async fn paused(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    let (upkeep, n, m) = (kit.upkeep(), kit.name("n"), kit.name("m"));
    kit.submit(&["a", "b"].map(|name| kit.job(name, "n"))).await;
    kit.submit(&[kit.job("c", "m")]).await;
    let held = kit.take("a", "n").await;
    let needs = [n.clone(), kit.name("o")];
    assert_eq!(upkeep.pause_needs(&needs, "ann").await.expect("a pause"), 2);
    assert_eq!(upkeep.pause_needs(&needs, "bob").await.expect("a pause"), 0, "they are");
    let all = upkeep.paused_needs().await.expect("a look");
    let paused = all.iter().find(|paused| paused.need == n).expect("it is there");
    assert_eq!(paused.by, "ann", "the first counts");
    assert!(all.is_sorted_by(|a, b| a.need < b.need), "{all:?}");
    let got = kit.look(&["n", "m"], 9).await;
    assert_eq!(got.jobs.len(), 1, "others go on");
    assert_eq!(got.jobs[0].taken.row.need, m);
    let got = kit.look(&["n"], 9).await;
    assert!(got.jobs.is_empty());
    assert!(got.next_in.is_none_or(|next| next > Duration::ZERO), "nobody asks all the time");
    assert_eq!(kit.settle(&held, done()).await, JobSettled::Applied, "what is held goes on");
    assert_eq!(upkeep.resume_needs(&needs).await.expect("a resume"), 2);
    assert_eq!(upkeep.resume_needs(&needs).await.expect("a resume"), 0);
    kit.take("b", "n").await;
    let wrong = upkeep.pause_needs(&[String::new()], "ann").await;
    assert!(wrong.is_err_and(|error| !error.is_temporary()), "nothing is called that");
}
