//! Rates, resources and batches that keep messages and jobs waiting, as `why` names them.

use std::time::Duration;

use pgflow::client::{JobReason, Reason};
use pgflow::pipeline::{Batch, Pipeline, Queue, Rate};
use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working};
use serde_json::Value;

use crate::doctor::codes;
use crate::jobs::{age, each_with_jobs, sign_on};
use crate::place::{change, json, pgflow};

const HOUR: Duration = Duration::from_hours(1);

#[job]
mod report {
    use super::*;

    #[need("report.mailed", rate = "api")]
    pub(crate) async fn mailed(job: u32) -> Result<Next> {
        Ok(Next::done(job))
    }
}

/// Code for three queues and a need, each of which is kept by something else.
pub(crate) fn worker(db: &Db) -> Worker {
    let asks = Pipeline::new("ask", &docs())
        .rate("api", Rate::per_hour(1))
        .process(|doc, _ctx| async move { Ok(doc) });
    let draws =
        Pipeline::new("draw", &frames()).resource("gpu", 1).process(|frame, _ctx| async move {
            std::future::pending::<()>().await;
            Ok(frame)
        });
    let sends = Pipeline::new("send", &letters())
        .batch(Batch::len(10).wait(HOUR), |batch, _ctx| async move {
            Ok(batch.settle(|_, letter| Ok(letter)))
        });
    let worker = Worker::new(db).job(report::Job).grace(Duration::ZERO);
    worker.pipeline(asks).pipeline(draws).pipeline(sends)
}

pub(crate) fn docs() -> Queue<u32> {
    Queue::named("docs")
}

pub(crate) fn frames() -> Queue<u32> {
    Queue::named("frames")
}

pub(crate) fn letters() -> Queue<u32> {
    Queue::named("letters")
}

/// What `why` says of a message, and its exit code, once it has this reason.
async fn says(place: &Fresh, id: &str, reason: &str) -> Outcome<(String, i32)> {
    let mut found = Value::Null;
    for _ in 0..200 {
        found = json(&place.url, &["why", id]).await;
        if found["reasons"][0]["code"] == reason {
            let why = pgflow(&place.url, &["why", id]).await;
            return Ok((why.stdout(), why.code()));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("{id} is not kept by its {reason}: {found}").into())
}

#[tokio::test(flavor = "multi_thread")]
async fn permits_and_batches_that_are_waited_for_are_named() -> Outcome {
    for place in each_with_jobs().await? {
        place.db.resource("gpu").capacity(1).await?;
        place.db.rate("api").set(Rate::per_hour(1)).await?;
        let working = Working::start(worker(&place.db));

        let first = docs().push(&place.db, &1).await?;
        place.db.job(&first).wait().await?;
        let second = docs().push(&place.db, &2).await?.to_string();
        let (said, code) = says(&place, &second, "rate").await?;
        assert!(
            said.contains("rate `api` is used up; the next attempt may begin in 59 min"),
            "{said}"
        );
        assert_eq!(code, 0, "patience helps");
        place.db.submit_raw("report.mailed", 7.into()).id("mail-1").await?;
        says(&place, "mail-1", "rate").await?;
        json(&place.url, &["queue", "rate", "api", "0"]).await;
        let (said, code) = says(&place, &second, "rate").await?;
        assert!(said.contains("rate `api` is 0"), "{said}");
        assert_eq!(code, 1, "somebody has to set another");

        frames().push(&place.db, &1).await?;
        let behind = frames().push(&place.db, &2).await?.to_string();
        let (said, code) = says(&place, &behind, "resource").await?;
        assert!(
            said.contains("resource `gpu` is taken: an attempt holds 1, and 1 of 1 are held"),
            "{said}"
        );
        assert_eq!(code, 0);

        let letter = letters().push(&place.db, &1).await?.to_string();
        let (said, code) = says(&place, &letter, "batch").await?;
        assert!(said.contains("taken with 10 messages, or 3600s after"), "{said}");
        assert_eq!(code, 0);
        working.stop().await?;
    }
    Ok(())
}

#[flow(input = u32)]
mod asks {
    use super::*;

    #[step(rate = "api")]
    pub(crate) async fn ask(run: u32) -> Result<u32> {
        Ok(run)
    }
}

/// More workers would not help tasks that keep to a rate.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_a_rate_keeps_are_not_late() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        place.db.rate("api").set(Rate::per_hour(1)).await?;
        place.db.register(asks::Flow).await?;
        let working = Working::start(Worker::new(&place.db).flow(asks::Flow));
        place.db.start(asks::Flow, 1).await?.wait().await?;
        place.db.start(asks::Flow, 2).await?;
        let aged = "update pgflow_tasks set ready_at = ready_at - 600000000;
            update pgflow_steps set started_at = started_at - 600000000";
        change(url, aged, "update pgmq.q_asks set vt = vt - interval '10 minutes', enqueued_at = enqueued_at - interval '10 minutes'").await?;
        let report = json(url, &["doctor", "--quick"]).await;
        assert_eq!(report["facts"]["oldest_ready_task"], "10 min", "{url}: {report}");
        assert_eq!(codes(url).await, [""; 0], "{url}: it is where it should be");
        json(url, &["queue", "rate", "api", "0"]).await;
        assert_eq!(codes(url).await, ["blocked"], "{url}");
        let report = pgflow(url, &["doctor"]).await.stdout();
        assert!(
            report.contains("1 tasks of `asks` wait, the first for 10 min, and none of step `ask` is taken: rate `api` is 0")
                && report.contains("`pgflow queue rate api 10/s` sets a rate"),
            "{report}"
        );
        working.stop().await?;
    }
    Ok(())
}

/// A message that takes more than there is never begins.
#[tokio::test(flavor = "multi_thread")]
async fn a_resource_that_is_too_small_is_named() -> Outcome {
    for place in each_with_jobs().await? {
        place.db.resource("gpu").capacity(8).await?;
        sign_on(&place, &["huge"], 1).await?;
        let huge = Queue::<u32>::named("huge").resources(|_| [("gpu", 5)]);
        let frame = huge.push(&place.db, &1).await?.to_string();
        place.db.resource("gpu").capacity(1).await?;
        let (said, code) = says(&place, &frame, "resource").await?;
        assert!(said.contains("of which there are 1: it is never taken"), "{said}");
        assert_eq!(code, 1, "somebody has to give it more");
        assert_eq!(codes(&place.url).await, [""; 0], "it was pushed just now");
        age(&place, "600").await?;
        assert_eq!(codes(&place.url).await, ["blocked"], "{}", place.url);
        let report = pgflow(&place.url, &["doctor"]).await.stdout();
        assert!(report.contains("give resource `gpu` more capacity"), "{report}");
        place.db.resource("gpu").capacity(8).await?;
        assert_eq!(codes(&place.url).await, ["late"], "nothing keeps it any more");
    }
    Ok(())
}

/// A step that a rate of 0 keeps needs somebody, as a job does.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_a_rate_of_0_keeps_needs_somebody() -> Outcome {
    for place in each_with_jobs().await? {
        place.db.rate("api").set(Rate::per_hour(1)).await?;
        place.db.register(asks::Flow).await?;
        let working = Working::start(Worker::new(&place.db).flow(asks::Flow));
        place.db.start(asks::Flow, 1).await?.wait().await?;
        let asking = place.db.start(asks::Flow, 2).await?.id().to_string();
        let (said, code) = says(&place, &asking, "rate").await?;
        assert_eq!(code, 0, "patience helps: {said}");
        json(&place.url, &["queue", "rate", "api", "0"]).await;
        let (said, code) = says(&place, &asking, "rate").await?;
        assert_eq!(code, 1, "somebody has to set another: {said}");
        working.stop().await?;
    }
    Ok(())
}

#[flow(input = u32)]
mod mixed {
    use super::*;

    #[step(rate = "api")]
    pub(crate) async fn ask(run: u32) -> Result<u32> {
        Ok(run)
    }

    #[step]
    pub(crate) async fn think(run: u32) -> Result<u32> {
        Ok(run)
    }
}

/// A flow may have a step that keeps to a rate, and be late with others.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_no_slot_is_left_for_are_late_whatever_a_rate_keeps() -> Outcome {
    for place in each_with_jobs().await? {
        let url = &*place.url;
        place.db.rate("api").set(Rate::per_hour(1)).await?;
        place.db.register(mixed::Flow).await?;
        let working = Working::start(Worker::new(&place.db).flow(mixed::Flow));
        place.db.start(mixed::Flow, 1).await?.wait().await?;
        working.stop().await?;
        for n in 0..2 {
            place.db.start(mixed::Flow, n).await?;
        }
        let (id, queues) = (pgflow_machine::WorkerId::new(), vec!["mixed".to_owned()]);
        let card = pgflow::backend::WorkerCard { id, host: None, pid: 1, queues, slots: 1 };
        place.db.backend().sign_on(&card).await?;
        let aged = "update pgflow_tasks set ready_at = ready_at - 600000000;
            update pgflow_steps set started_at = started_at - 600000000";
        change(url, aged, "update pgmq.q_mixed set vt = vt - interval '10 minutes', enqueued_at = enqueued_at - interval '10 minutes'").await?;
        assert_eq!(codes(url).await, [""; 0], "{url}: the oldest may be one that the rate keeps");
        let claim = pgflow::backend::Claim::of_queues(["mixed"], 1, card.id);
        assert_eq!(place.db.backend().claim(&claim).await?.tasks.len(), 1);
        assert_eq!(codes(url).await, ["late"], "{url}: more slots would help");
    }
    Ok(())
}

/// However many jobs came after it.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_in_line_is_the_one_that_is_looked_at() -> Outcome {
    let place = Fresh::sqlite().await?;
    place.db.resource("gpu").capacity(8).await?;
    sign_on(&place, &["huge"], 1).await?;
    let huge = Queue::<u32>::named("huge").resources(|n| [("gpu", if *n == 0 { 5 } else { 1 })]);
    for n in 0..=1_000 {
        huge.push(&place.db, &n).await?;
    }
    place.db.resource("gpu").capacity(1).await?;
    age(&place, "600").await?;
    assert_eq!(codes(&place.url).await, ["blocked"], "the first takes more than there is");
    Ok(())
}

/// Also of a child that somebody waits for.
#[test]
fn a_resource_that_is_too_small_needs_somebody() {
    let (resource, held, since) = ("gpu".to_owned(), 0, pgflow::Timestamp::default());
    let kept = |units| {
        let on = JobReason::Resource { resource: resource.clone(), units, held, capacity: 1 };
        let reason = Reason::Permit { step: "render".to_owned(), tasks: 1, on, since };
        let (step, flow) = ("outer".to_owned(), "renders".to_owned());
        let run = pgflow::RunId::new();
        let child = Reason::Child { step, run, flow, reason: Box::new(reason.clone()) };
        (reason.needs_somebody(), child.needs_somebody())
    };
    assert_eq!((kept(1), kept(2)), ((false, false), (true, true)));
}
