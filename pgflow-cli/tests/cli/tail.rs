//! `pgflow tail` of all runs: none loses its end.

use std::collections::HashSet;
use std::time::Duration;

use pgflow::{Db, RunId, RunStatus};
use pgflow_worker_tests::{Fresh, Outcome};
use serde_json::Value;

use crate::place::{each, sums};
use crate::serving::Running;

/// What `pgflow tail` has printed.
struct Tail {
    running: Running,
    seen: HashSet<(String, u64)>,
    /// The run of the last event.
    last: String,
}

impl Tail {
    /// One that has looked: it has printed that a run began, and knows those that were open.
    fn of(db: &Db, url: &str) -> Outcome<Self> {
        let running = Running::start(url, &["tail", "--json", "--flow", "sums"])?;
        let mut tail = Self { running, seen: HashSet::new(), last: String::new() };
        let db = db.clone();
        let starting = tokio::spawn(async move {
            while db.start(sums::Flow, &vec![0]).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        });
        tail.until(|event| event["event"] == "run:started")?;
        starting.abort();
        Ok(tail)
    }

    /// Reads on until an event is like this. None comes twice.
    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Outcome {
        loop {
            let event: Value = serde_json::from_str(&self.running.line()?)?;
            let (run, seq) = (event["run"].to_string(), event["seq"].as_u64().expect("a number"));
            assert!(self.seen.insert((run, seq)), "a second time: {event}");
            event["run"].as_str().expect("a run").clone_into(&mut self.last);
            if is_it(&event) {
                return Ok(());
            }
        }
    }

    fn until_cancelled(&mut self, run: RunId) -> Outcome {
        self.until(|event| event["run"] == run.to_string() && event["event"] == "run:cancelled")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_that_began_before_are_followed_to_their_end() -> Outcome {
    for place in each().await? {
        let worker = place.work(sums::Flow).await?;
        let failed = place.db.start(sums::Flow, &vec![13]).await?;
        assert_eq!(failed.wait().await?, RunStatus::Failed);
        worker.stop().await?;
        let open = place.db.start(sums::Flow, &vec![1]).await?;
        let mut tail = Tail::of(&place.db, &place.url)?;
        open.cancel(None).await?;
        tail.until_cancelled(open.id())?;
        for _ in 0..2 {
            failed.retry().await?;
            tail.until(|event| event["run"] == failed.id().to_string())?;
            let worker = place.work(sums::Flow).await?;
            tail.until(|event| {
                event["run"] == failed.id().to_string() && event["event"] == "run:failed"
            })?;
            worker.stop().await?;
        }
    }
    Ok(())
}

/// It is no longer among those that are listed.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_to_its_end_though_many_began_since() -> Outcome {
    let place = Fresh::sqlite().await?;
    place.db.register(sums::Flow).await?;
    let open = place.db.start(sums::Flow, &vec![1]).await?;
    let mut tail = Tail::of(&place.db, &place.url)?;
    let mut last = open.id();
    for _ in 0..501 {
        last = place.db.start(sums::Flow, &vec![2]).await?.id();
    }
    tail.until(|event| event["run"] == last.to_string())?;
    open.cancel(None).await?;
    tail.until_cancelled(open.id())
}

/// More than a page of runs may begin and end between two looks.
#[tokio::test(flavor = "multi_thread")]
async fn no_run_of_a_burst_is_lost() -> Outcome {
    let place = Fresh::sqlite().await?;
    place.db.register(sums::Flow).await?;
    let mut tail = Tail::of(&place.db, &place.url)?;
    tail.running.signal("STOP")?;
    let mut left = HashSet::new();
    for _ in 0..1_100 {
        let run = place.db.start(sums::Flow, &vec![2]).await?;
        run.cancel(None).await?;
        left.insert(run.id().to_string());
    }
    tail.running.signal("CONT")?;
    while !left.is_empty() {
        tail.until(|event| event["event"] == "run:cancelled")?;
        left.remove(&tail.last);
    }
    Ok(())
}

/// A job that is listed because others ended has not changed.
#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_said_to_change_if_they_do() -> Outcome {
    let place = Fresh::sqlite().await?;
    for n in 0..560 {
        place.db.submit_raw("n", Value::Null).id(format!("old-{n}")).await?;
    }
    let running = Running::start(&place.url, &["tail", "--json"])?;
    let job = |line: &str| -> Outcome<String> {
        let line: Value = serde_json::from_str(line)?;
        Ok(line["job"].as_str().ok_or("a job")?.to_owned())
    };
    // It has looked when it says that one came.
    for n in 0.. {
        let id = format!("mark-{n}");
        place.db.submit_raw("n", Value::Null).id(&*id).await?;
        if running.line_within(Duration::from_secs(1)).is_some() {
            break;
        }
    }
    for n in 500..560 {
        place.db.job(&format!("old-{n}").parse()?).cancel("moved").await?;
    }
    place.db.job(&"old-3".parse()?).cancel("moved").await?;
    let mut changed = HashSet::new();
    while !changed.contains("old-3") || changed.len() < 61 {
        let id = job(&running.line()?)?;
        if !id.starts_with("mark-") {
            assert!(changed.insert(id.clone()), "{id} a second time");
        }
    }
    let expected: HashSet<_> = (500..560).chain([3]).map(|n| format!("old-{n}")).collect();
    assert_eq!(changed, expected);
    place.db.submit_raw("n", Value::Null).id("end").await?;
    while job(&running.line()?)? != "end" {}
    Ok(())
}
