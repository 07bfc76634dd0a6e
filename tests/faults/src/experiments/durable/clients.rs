//! Load: clients that start runs, and clients that do their tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgflow::backend::{BackendError, Claim, ClaimedTask, Settlement};
use pgflow::{Db, RunId};
use pgflow_machine::{Lease, Settle, Settled, TaskLease, Verdict, WorkerId};
use serde_json::json;
use tokio::task::JoinHandle;

use super::log::{Acknowledged, Log};
use crate::flows::chain;
use crate::harness::Outcome;

const OF_EACH: usize = 3;
const PAUSE: Duration = Duration::from_millis(10);

/// Clients at work.
pub(super) struct Clients {
    stop: Arc<AtomicBool>,
    running: Vec<JoinHandle<Outcome>>,
}

impl Clients {
    pub(super) fn start(db: &Db, log: &Log) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let client = || Client { db: db.clone(), log: log.clone(), stop: stop.clone() };
        let pair = |_| [tokio::spawn(client().start_runs()), tokio::spawn(client().do_tasks())];
        let running = (0..OF_EACH).flat_map(pair).collect();
        Self { stop, running }
    }

    pub(super) async fn stop(self) -> Outcome {
        self.stop.store(true, Ordering::SeqCst);
        for client in self.running {
            client.await??;
        }
        Ok(())
    }
}

struct Client {
    db: Db,
    log: Log,
    stop: Arc<AtomicBool>,
}

impl Client {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::SeqCst)
    }

    async fn start_runs(self) -> Outcome {
        while self.goes_on() {
            let id = RunId::new();
            // What was not acknowledged may be there or not: nobody counts on it.
            if self.db.start(chain::Flow, &1).id(id).await.is_ok() {
                self.log.add(&[Acknowledged::Start { run: id.to_string() }])?;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn do_tasks(self) -> Outcome {
        let claim = Claim::of_queues(["chain"], 4, WorkerId::new());
        while self.goes_on() {
            let claimed = self.db.backend().claim(&claim).await;
            let tasks = claimed.map(|claimed| claimed.tasks).unwrap_or_default();
            if !tasks.is_empty() {
                self.settle(tasks).await?;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn settle(&self, tasks: Vec<ClaimedTask>) -> Outcome {
        let settles: Vec<Settle> = (0_i64..).zip(tasks).map(|(n, task)| result(n, task)).collect();
        let work = self.persist(&settles).await?;
        let recorded = settles.iter().zip(&work.settled);
        let recorded = recorded
            .filter(|(_, outcome)| matches!(outcome, Settled::Applied | Settled::AlreadySettled));
        let recorded: Vec<_> = recorded.filter_map(|(settle, _)| acknowledged(settle)).collect();
        self.log.add(&recorded)
    }

    /// Asks until there is an answer.
    async fn persist(&self, settles: &[Settle]) -> Result<Settlement, BackendError> {
        loop {
            match self.db.backend().settle(settles, None).await {
                Err(error) if error.is_temporary() => tokio::time::sleep(PAUSE * 5).await,
                answer => return answer,
            }
        }
    }
}

/// A number that depends on the attempt, so that another's result is not taken for this one.
fn result(n: i64, task: ClaimedTask) -> Settle {
    let output = i64::from(task.lease.attempt) * 1000 + n;
    Settle { lease: task.lease.into(), verdict: Verdict::Completed(json!(output)) }
}

fn acknowledged(settle: &Settle) -> Option<Acknowledged> {
    let Verdict::Completed(output) = &settle.verdict else { return None };
    let Lease::Task(TaskLease { task, .. }) = &settle.lease else { unreachable!("no jobs here") };
    let task = format!("{}/{}", task.run, task.step);
    Some(Acknowledged::Settle { task, output: output.as_i64()? })
}
