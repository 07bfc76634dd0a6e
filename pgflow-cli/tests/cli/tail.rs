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
}

impl Tail {
    /// One that has looked: it has printed that a run began, and knows those that were open.
    fn of(db: &Db, url: &str) -> Outcome<Self> {
        let running = Running::start(url, &["tail", "--json", "--flow", "sums"])?;
        let mut tail = Self { running, seen: HashSet::new() };
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
