//! What can be read, and forgotten.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobOutcome, JobSettings, Policy, Seq};
use pgflow_runtime::backend::{JobQuery, JobsOf};
use serde_json::json;

use crate::Check;
use crate::check::check;
use crate::kit::Cx;
use crate::kit::jobs::{JobKit, fatal_job};

pub(crate) const CHECKS: &[Check] = &[
    check!("J27", "jobs are listed in pages, by place", pages, Jobs),
    check!("J28", "the trace says who did what, and can be switched off", traces, Jobs),
    check!("J43", "where jobs stand can be read of many at once", standings, Jobs),
    check!("J29", "what ended long ago is forgotten with its trace", prunes, Jobs),
];

async fn pages(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&["c", "b", "a"].map(|name| kit.job(name, "n"))).await;
    kit.submit(&[kit.job("d", "m")]).await;
    let query = JobQuery { need: Some(kit.name("n")), max: 2, ..JobQuery::default() };
    assert_eq!(kit.list(&query).await, ["c", "b"]);
    let Seq::Given(after) = kit.record("b").await.summary.row.seq else { panic!("a place") };
    let next = JobQuery { after: Some(after), ..query.clone() };
    assert_eq!(kit.list(&next).await, ["a"]);
    let c = kit.take("c", "n").await;
    kit.settle(&c, fatal_job()).await;
    let b = kit.take("b", "n").await;
    kit.finish(&b).await;
    let ended = |of| JobQuery { of, ..query.clone() };
    assert_eq!(kit.list(&ended(JobsOf::Ended)).await, ["c", "b"]);
    assert_eq!(kit.list(&ended(JobsOf::EndedAs(JobOutcome::Failed))).await, ["c"]);
    assert_eq!(kit.list(&query).await, ["a"]);
}

async fn standings(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&["a", "b", "c"].map(|name| kit.job(name, "n"))).await;
    let a = kit.take("a", "n").await;
    kit.take("b", "n").await;
    kit.finish(&a).await;
    let ids = ["c", "nobody", "a", "b"].map(|name| kit.id(name));
    let found = kit.jobs().job_standings(&ids).await.expect("jobs can be looked at");
    let mut found: Vec<_> = found
        .iter()
        .map(|(id, standing)| format!("{} {standing}", kit.short(id.as_str())))
        .collect();
    found.sort();
    assert_eq!(found, ["a done", "b ACTIVE", "c READY"]);
    assert_eq!(kit.jobs().job_standings(&[]).await.expect("an answer"), []);
}

async fn traces(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&[kit.job("a", "n")]).await;
    let a = kit.take("a", "n").await;
    kit.cancel("a").await;
    kit.finish(&a).await;
    let id = kit.id("a");
    let events = kit.jobs().job_trace(&id, 0, 100).await.expect("a trace");
    let words: Vec<_> = events
        .iter()
        .map(|event| {
            (event.kind.word(), event.by.as_deref(), event.token.as_ref() == Some(&a.token))
        })
        .collect();
    let expected = [
        ("submitted", Some("client"), false),
        ("claimed", Some("worker"), true),
        ("cancel_asked", Some("me"), false),
        ("finished", Some("worker"), true),
    ];
    assert_eq!(words, expected);
    // Who wanted it and why is told alike by all.
    let told = json!({ "reason": "why not", "was_active": true });
    assert_eq!(events[2].detail, Some(told));
    let mut e = kit.job("e", "n");
    e.after.push(kit.on("d").or(Policy::Cancel));
    kit.submit(&[kit.job("d", "n"), e]).await;
    kit.cancel("d").await;
    for (name, told) in [
        ("d", json!({ "by": "me", "reason": "why not" })),
        ("e", json!({ "because": format!("dependency {} ended cancelled", kit.name("d")) })),
    ] {
        let trace = kit.jobs().job_trace(&kit.id(name), 0, 100).await.expect("a trace");
        let last = trace.last().expect("an event");
        assert_eq!((last.kind.word(), &last.detail), ("cancelled", &Some(told)));
    }
    let page = kit.jobs().job_trace(&id, events[1].number, 1).await.expect("a trace");
    assert_eq!(page, events[2..3]);
    for (most, expected) in
        [(2, &events[2..]), (4, &events[..]), (100, &events[..]), (3, &events[1..])]
    {
        let end = kit.jobs().job_trace_end(&id, most).await.expect("a trace");
        assert_eq!(end, expected, "the last {most}");
    }
    let settings = kit.jobs().job_settings().await.expect("settings");
    let off = JobSettings { trace: false, ..settings };
    kit.jobs().set_job_settings(off).await.expect("settings can be set");
    kit.submit(&[kit.job("b", "n")]).await;
    let b = kit.take("b", "n").await;
    kit.finish(&b).await;
    kit.jobs().set_job_settings(settings).await.expect("settings can be set");
    assert_eq!(kit.trace("b").await, [""; 0]);
}

async fn prunes(cx: Arc<Cx>) {
    let kit = JobKit::new(&cx);
    kit.submit(&["a", "b", "c"].map(|name| kit.job(name, "n"))).await;
    let a = kit.take("a", "n").await;
    kit.finish(&a).await;
    kit.pass(10_000).await;
    let b = kit.take("b", "n").await;
    kit.finish(&b).await;
    let prune = |max| kit.jobs().prune_jobs(Duration::from_secs(5_000), max);
    // A database may have jobs of other checks.
    while prune(100).await.expect("jobs can be pruned") > 0 {}
    assert!(kit.jobs().job(&kit.id("a")).await.expect("a look").is_none());
    assert_eq!(kit.trace("a").await, [""; 0]);
    kit.expect(&[("b", "done"), ("c", "READY")]).await;
    kit.submit(&[kit.job("a", "n")]).await;
}
