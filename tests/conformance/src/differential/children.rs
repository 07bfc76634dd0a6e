//! Runs that other runs wait for. They have ids that nobody chose, so what they are given says which one each is.

use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};

use pgflow_machine::wait::NewChild;
use pgflow_machine::{RunId, RunStatus, Settle, Settled, Verdict};
use pgflow_runtime::backend::{BackendError, Claim, ClaimedTask, Parts, RunQuery, RunSummary};
use serde_json::{Value, json};

use super::play::Player;
use super::reply::Seen;

impl Player<'_> {
    /// Makes a child of a command this player's own.
    pub(super) fn adopt(&self, child: &mut NewChild) {
        child.flow.clone_from(&self.names.child);
        if let Some(number) = child.input.get(0) {
            child.input = json!([format!("{}/{number}", self.runs[0])]);
        }
    }

    /// Which one was given this; nothing if it is of another sequence.
    fn number(&self, given: &Value) -> Option<u64> {
        let (of, number) = given.as_str()?.split_once('/')?;
        (of == self.runs[0].to_string()).then(|| number.parse().expect("a number"))
    }

    pub(super) fn children(&self) -> MutexGuard<'_, BTreeMap<RunId, Option<u64>>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns which children there are.
    pub(super) async fn find_children(&self) -> Result<(), BackendError> {
        for run in self.runs_of_children(Vec::new()).await? {
            if self.children().contains_key(&run.id) {
                continue;
            }
            let record = self.backend.run(run.id, Parts::Outputs).await?.expect("it is listed");
            let given = record.input.as_ref().and_then(|input| input.get(0));
            let number = given.and_then(|given| self.number(given));
            self.children().insert(run.id, number);
        }
        Ok(())
    }

    async fn runs_of_children(
        &self,
        statuses: Vec<RunStatus>,
    ) -> Result<Vec<RunSummary>, BackendError> {
        let flows = vec![self.names.child.clone()];
        let query = RunQuery { flows, statuses, max: 10_000, ..RunQuery::default() };
        self.backend.list(&query).await
    }

    pub(super) async fn look_at_children(&self) -> Result<Vec<(u64, Seen)>, BackendError> {
        let children = self.children().clone();
        let mut seen = Vec::new();
        for (run, number) in children {
            let Some(number) = number else { continue };
            let child = self.look_at(run).await?.expect("it was there");
            seen.push((number, child.without_input()));
        }
        seen.sort_by_key(|(number, _)| *number);
        Ok(seen)
    }

    pub(super) async fn end_children(
        &self,
        odd: bool,
        verdict: Option<&Verdict>,
    ) -> Result<Vec<(u64, u32, Settled)>, BackendError> {
        // Who is an orphan is cancelled by now on every database.
        self.backend.waits()?.wake_waits(1_000).await?;
        let claim = Claim::of_queues([self.names.child.as_str()], 1_000, self.workers[0]);
        let tasks = self.backend.claim(&claim).await?.tasks;
        let Some(verdict) = verdict else { return Ok(Vec::new()) };
        let number = |task: &ClaimedTask| self.number(&task.input).expect("a child of ours");
        let settle = |task: &ClaimedTask| Settle {
            lease: task.lease.clone().into(),
            verdict: if number(task) % 2 == u64::from(odd) {
                verdict.clone()
            } else {
                Verdict::Released
            },
        };
        let settles: Vec<_> = tasks.iter().map(settle).collect();
        let settled = self.backend.settle(&settles, None).await?.settled;
        self.backend.waits()?.wake_waits(1_000).await?;
        let ended = tasks.iter().zip(settled);
        let mut ended: Vec<_> =
            ended.map(|(task, settled)| (number(task), task.lease.attempt, settled)).collect();
        ended.sort_unstable_by_key(|(number, ..)| *number);
        Ok(ended)
    }

    /// Detached ones go on without those who started them.
    pub(super) async fn cancel_children(&self) -> Result<(), BackendError> {
        self.backend.waits()?.wake_waits(1_000).await?;
        for run in self.runs_of_children(vec![RunStatus::Started]).await? {
            self.backend.cancel(run.id, None).await?;
        }
        Ok(())
    }
}
