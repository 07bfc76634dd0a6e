//! A run of a check.

use std::sync::Arc;

use pgflow_machine::{RunId, RunStatus, Settled, Verdict};
use pgflow_runtime::backend::{Cancelled, ClaimedTask, Parts, Retried, RunRecord};
use serde_json::Value;

use super::{Cx, Log, completed, failed, fatal, names};

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) cx: Arc<Cx>,
    pub(crate) flow: String,
    pub(crate) id: RunId,
}

impl Run {
    /// Claims everything of its flow, which must be these tasks: `fetch#0` and so on, in order.
    pub(crate) async fn take<const N: usize>(&self, expected: [&str; N]) -> [ClaimedTask; N] {
        let tasks = self.cx.claim(&self.flow).await;
        assert_eq!(names(&tasks), expected, "these tasks can be claimed");
        tasks.try_into().expect("as many")
    }

    /// Of two tasks, the one of this run and the one of another.
    pub(crate) fn split(&self, tasks: &[ClaimedTask], other: &Self) -> [ClaimedTask; 2] {
        [self, other].map(|run| {
            let task = tasks.iter().find(|task| task.lease.task.run == run.id);
            task.expect("a task of each").clone()
        })
    }

    /// Settles an attempt that must be the current one.
    pub(crate) async fn apply(&self, task: &ClaimedTask, verdict: Verdict) {
        let what = format!("{:?} {verdict:?}", task.lease);
        assert_eq!(self.cx.settle(&task.lease, verdict).await, Settled::Applied, "{what}");
    }

    pub(crate) async fn done(&self, task: &ClaimedTask, output: impl Into<Value>) {
        self.apply(task, completed(output)).await;
    }

    pub(crate) async fn fail(&self, task: &ClaimedTask, error: &str) {
        self.apply(task, failed(error)).await;
    }

    pub(crate) async fn fail_for_good(&self, task: &ClaimedTask, error: &str) {
        self.apply(task, fatal(error)).await;
    }

    pub(crate) async fn record(&self) -> RunRecord {
        let record = self.cx.backend().run(self.id, Parts::Outputs).await;
        record.expect("a run can be read").expect("the run is there")
    }

    pub(crate) async fn log(&self) -> Log {
        Log::read(&*self.cx.backend(), self.id).await
    }

    /// Its status and its steps as `fetch:completed`, in the order of the flow.
    pub(crate) async fn expect_state(&self, status: RunStatus, steps: &[&str]) -> RunRecord {
        let record = self.record().await;
        let found: Vec<_> =
            record.steps.iter().map(|step| format!("{}:{}", step.slug, step.status)).collect();
        assert_eq!((record.status, found), (status, steps.iter().map(|s| (*s).into()).collect()));
        record
    }

    /// Its whole log, see `kit::log`.
    pub(crate) async fn expect_log(&self, expected: &[&str]) {
        assert_eq!(self.log().await.lines(), expected);
    }

    /// The end of its log.
    pub(crate) async fn expect_log_end(&self, expected: &[&str]) {
        let lines = self.log().await.lines();
        let end = &lines[lines.len().saturating_sub(expected.len())..];
        assert_eq!(end, expected, "the end of {lines:?}");
    }

    pub(crate) async fn cancel(&self, reason: Option<&str>) -> Cancelled {
        self.cx.backend().cancel(self.id, reason).await.expect("a run can be cancelled")
    }

    pub(crate) async fn retry(&self) -> Retried {
        self.cx.backend().retry(self.id).await.expect("a run can be retried")
    }

    pub(crate) async fn advance(&self, seconds: u64) {
        self.cx.advance(&self.flow, seconds).await;
    }

    /// Nothing of it can be had, now or in ten years.
    pub(crate) async fn expect_idle(&self) {
        assert_eq!(names(&self.cx.claim(&self.flow).await), [""; 0], "nothing can be claimed");
        self.advance(315_360_000).await;
        assert_eq!(self.cx.sweep().await, 0, "nothing is lost");
        assert_eq!(names(&self.cx.claim(&self.flow).await), [""; 0], "nothing is claimed later");
    }
}
