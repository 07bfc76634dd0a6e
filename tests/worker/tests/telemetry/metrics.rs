//! Metrics, in a life of a worker in which everything happens.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pgflow::prelude::*;
use pgflow::{Run, RunStatus};
use pgflow_machine::{RunId, Settle, TaskKey, TaskLease, Verdict, WorkerId};
use pgflow_runtime::backend::{Claim, NewRun, Runs, Work};
use pgflow_worker_tests::{Flaky, Mood, Outcome, Working};

use crate::documented;
use crate::recorder::{Seen, Series};

/// Blocks its thread for a while.
const BLOCKING: Plan = (0, 1);

/// Seconds that the first attempt takes, and those that the second does; less than nothing fails.
type Plan = (i64, i64);

#[flow(input = Plan, max_attempts = 1, timeout = 20)]
mod job {
    use super::*;

    #[step]
    pub(crate) async fn work(run: Plan, ctx: Context) -> Result<u32> {
        if run == BLOCKING {
            std::thread::sleep(Duration::from_millis(1100));
        }
        let seconds = if ctx.attempt() == 1 { run.0 } else { run.1 };
        let seconds = u64::try_from(seconds).map_err(|_| "this one fails")?;
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        Ok(ctx.attempt())
    }
}

#[flow]
mod nap {
    use super::*;

    #[step]
    pub(crate) async fn rest(ctx: Context) -> Result<Waiting<()>> {
        Ok(ctx.sleep(Duration::from_secs(1)))
    }
}

struct Life {
    flaky: Flaky,
    db: Db,
}

impl Life {
    async fn start(&self, first: i64, second: i64) -> Outcome<Run<job::Flow>> {
        Ok(self.db.start(job::Flow, &(first, second)).await?)
    }

    async fn run(&self, first: i64, second: i64) -> Outcome<RunStatus> {
        Ok(self.start(first, second).await?.wait().await?)
    }

    /// As somebody else who gives back a task, so that its next attempt begins beside the first.
    async fn take_away(&self, run: &Run<job::Flow>) -> Outcome {
        let task = TaskKey { run: run.id(), step: "work".to_owned(), index: 0 };
        let settle =
            Settle { lease: TaskLease { task, attempt: 1 }.into(), verdict: Verdict::Released };
        self.flaky.settle(&[settle], None).await?;
        Ok(())
    }

    /// A run of which nobody can read what it is given, for as long as it takes to see that.
    async fn hold_back(&self) -> Outcome {
        let id = RunId::new();
        self.flaky.start(NewRun::new("job", "not a plan", id)).await?;
        pause(2).await;
        self.flaky.cancel(id, None).await?;
        Ok(())
    }

    /// As a worker that takes a task and dies.
    async fn claim_and_die(&self) -> Outcome<usize> {
        let claim = Claim::of_queues(["job"], 1, WorkerId::new());
        Ok(self.flaky.claim(&claim).await?.tasks.len())
    }
}

async fn pause(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// Everything that a metric can be about.
async fn live() -> Outcome {
    let flaky = Flaky::in_virtual_time();
    let life = Life { db: Db::new(flaky.clone()), flaky };
    life.db.register(job::Flow).await?;
    life.db.register(nap::Flow).await?;
    let orphan = life.start(0, 0).await?;
    assert_eq!(life.claim_and_die().await?, 1);
    let worker = Worker::new(&life.db)
        .flow(job::Flow)
        .flow(nap::Flow)
        .grace(Duration::from_secs(1))
        .report_backlog(Duration::from_secs(1));
    let worker = Working::start(worker);
    assert_eq!(life.run(0, 0).await?, RunStatus::Completed);
    assert_eq!(life.run(BLOCKING.0, BLOCKING.1).await?, RunStatus::Completed);
    assert_eq!(life.run(-1, 0).await?, RunStatus::Failed);
    life.flaky.set("settle", Mood::AnswerLost, 1);
    assert_eq!(life.run(0, 0).await?, RunStatus::Completed);
    life.flaky.set("claim", Mood::AnswerLost, 1);
    assert_eq!(life.run(0, 0).await?, RunStatus::Completed);
    // Cancelled before its result is there, and before its heartbeat.
    for seconds in [3, 15] {
        let run = life.start(seconds, 0).await?;
        pause(2).await;
        run.cancel(None).await?;
        pause(15).await;
    }
    // Fenced by its next attempt before its result is there, and before its heartbeat.
    for seconds in [4, 15] {
        let run = life.start(seconds, 15).await?;
        pause(2).await;
        life.take_away(&run).await?;
        assert_eq!(run.wait().await?, RunStatus::Completed);
    }
    life.hold_back().await?;
    let nap = life.db.start(nap::Flow, &()).await?;
    assert_eq!(nap.wait().await?, RunStatus::Completed);
    assert_eq!(orphan.wait().await?, RunStatus::Completed);
    let last = life.start(15, 0).await?;
    pause(2).await;
    let report = worker.stop().await?;
    assert_eq!((report.lost, last.status().await?), (0, RunStatus::Started), "{report}");
    Ok(())
}

/// The sum of a counter, for labels with this value.
fn sum(all: &BTreeMap<Series, f64>, name: &str, label: &str) -> f64 {
    let is_it = |series: &Series| label.is_empty() || series.labels.values().any(|v| v == label);
    all.iter().filter(|(series, _)| series.name == name && is_it(series)).map(|(_, sum)| sum).sum()
}

#[tokio::test(start_paused = true)]
async fn metrics_are_those_of_the_documentation() -> Outcome {
    let seen = Seen::default();
    let _recording = metrics::set_default_local_recorder(&seen);
    live().await?;
    let all = seen.all();
    let documented = documented::metrics(documented::RUNTIME);
    let names: BTreeSet<&String> = all.keys().map(|series| &series.name).collect();
    assert_eq!(names, documented.keys().collect(), "names");
    let described = seen.described();
    for (name, metric) in &documented {
        let (kind, text) = described.get(name).unwrap_or_else(|| panic!("{name} is not described"));
        assert_eq!(*kind, metric.kind, "{name}");
        assert!(text.len() > 10, "{name}: {text}");
    }
    for (name, metric) in &documented {
        let mut values = BTreeSet::new();
        for Series { kind, labels, .. } in all.keys().filter(|series| series.name == *name) {
            assert_eq!(*kind, metric.kind, "{name}");
            let keys: BTreeSet<&String> = labels.keys().collect();
            assert_eq!(keys, metric.labels.iter().collect(), "labels of {name}");
            values.extend(metric.labels.last().map(|label| &labels[label]));
        }
        if !metric.values.is_empty() {
            // A task that nobody knows would be one of a run that was deleted.
            let listed = metric.values.iter().filter(|value| *value != "unknown");
            assert_eq!(values, listed.collect(), "values of {name}");
        }
    }
    counts(&all);
    Ok(())
}

/// What can be counted exactly.
fn counts(all: &BTreeMap<Series, f64>) {
    let wanted = [
        // Seven runs, and two results that were too late; a nap ends by itself.
        ("pgflow_attempts_total", "completed", 9.0),
        ("pgflow_attempts_total", "failed", 1.0),
        ("pgflow_attempts_total", "released", 1.0),
        ("pgflow_attempts_total", "dropped", 2.0),
        ("pgflow_attempts_total", "held_back", 1.0),
        ("pgflow_settles_total", "fenced", 1.0),
        // A result that was too late, and the word that a cancelled handler has ended.
        ("pgflow_settles_total", "run_ended", 2.0),
        ("pgflow_settles_total", "already_settled", 1.0),
        ("pgflow_heartbeats_total", "lost", 1.0),
        ("pgflow_heartbeats_total", "cancelled", 1.0),
        ("pgflow_requeued_total", "", 1.0),
        ("pgflow_given_back_total", "", 1.0),
        ("pgflow_database_errors_total", "", 2.0),
        ("pgflow_blocking_attempts_total", "work", 1.0),
        ("pgflow_running", "", 0.0),
        ("pgflow_runs_ended_total", "completed", 8.0),
        ("pgflow_runs_ended_total", "failed", 1.0),
        ("pgflow_runs_ended_total", "cancelled", 3.0),
    ];
    for (name, label, count) in wanted {
        let found = sum(all, name, label);
        assert!((found - count).abs() < 0.5, "{found} {name} {label}: {all:#?}");
    }
}
