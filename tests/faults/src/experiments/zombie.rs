//! Workers that sleep through their lease, and come back with a result.

use pgflow::{RunStatus, backend::Parts};
use pgflow_machine::{Lease, Retry, Settle, Settled, TaskKey, TaskLease, Verdict};
use serde_json::json;

use crate::flows::{Act, single};
use crate::harness::{Base, Kind, Lab, Metrics, Outcome, What};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["single"];

/// X03: it completes the task.
pub(super) async fn completes(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let verdict = Verdict::Completed(json!({ "pid": 0, "attempt": 1 }));
    come_back(lab, kind, Act::Gate, verdict).await
}

/// X04: it fails the task.
pub(super) async fn fails(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let verdict = Verdict::Failed { error: "too late".to_owned(), retry: Retry::Never };
    come_back(lab, kind, Act::GateFirstFails, verdict).await
}

/// The first worker comes back while the second one is still at it, which is the hard case: what is stored
/// depends on nothing but the attempt's number.
async fn come_back(lab: &mut Lab, kind: Kind, act: Act, verdict: Verdict) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    let run = base.db.start(single::Flow, &act).await?;
    let worker = || lab.worker(&base.url, FLOWS).start();
    let zombie = worker()?;
    lab.journal.entered("work", 1).await?;
    zombie.signal("STOP").await?;
    let other = worker()?;
    let second = lab.journal.entered("work", 2).await?;
    ensure!(second.pid == other.pid, "process {} ran the second attempt", second.pid);
    lab.open("gate-1")?;
    zombie.signal("CONT").await?;
    let left = |entry: &crate::harness::Entry| entry.what == What::Left && entry.attempt == 1;
    lab.journal.find("the zombie's end", left).await?;
    // A worker that stops brings its results home first.
    let zombie = zombie.stop().await?;
    ensure!((zombie.settled, zombie.superseded) == (0, 1), "the zombie says {zombie:?}");
    let settle = Settle { lease: lease(run.id()), verdict };
    let refused = refuse(&base, &settle).await?;
    ensure!(run.status().await? == RunStatus::Started, "the zombie ended the run");
    lab.open("gate-2")?;
    let after = run.output().await?.after;
    let stored = run.step_output::<single::work>().await?.ok_or("no output")?;
    ensure!((stored.pid, stored.attempt, after) == (other.pid, 2, 2), "stored was {stored:?}");
    let record = run.record(Parts::Steps).await?;
    ensure!(record.steps.iter().all(|step| step.error.is_none()), "an error was recorded");
    let entered = lab.journal.count(What::Entered)?;
    ensure!(entered == 3, "{entered} attempts began: two of the first step, one of the second");
    let other = other.stop().await?;
    ensure!(other.settled == 2, "the other worker says {other:?}");
    Ok(
        metrics! { "attempts": 2, "zombie_superseded": zombie.superseded, "late_settle": format!("{refused:?}") },
    )
}

/// What the database itself says to the zombie's result, whatever its worker knew.
async fn refuse(base: &Base, settle: &Settle) -> Outcome<Settled> {
    let work = base.db.backend().settle(std::slice::from_ref(settle), None).await?;
    let outcome = work.settled[0];
    ensure!(outcome == Settled::Fenced, "a late settle was {outcome:?}");
    Ok(outcome)
}

fn lease(run: pgflow::RunId) -> Lease {
    TaskLease { task: TaskKey { run, step: "work".to_owned(), index: 0 }, attempt: 1 }.into()
}
