//! Pipelines, by what checks are about.

mod batching;
mod permits;
mod racing;
mod settling;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobSettled, JobVerdict, NewJob, Submitted};
use pgflow_machine::permit::{BatchRule, Message, MessageEnd, MessageSettle, Stage};
use pgflow_runtime::backend::{Backend, ClaimedBatch, ClaimedBatches, Pipelines, StageClaim};

use crate::Check;
use crate::kit::Cx;
use crate::kit::jobs::JobKit;

/// All of them.
pub(super) const GROUPS: &[&[Check]] =
    &[batching::CHECKS, permits::CHECKS, settling::CHECKS, steps::CHECKS, racing::CHECKS];

/// Queues of a check.
struct QueueKit {
    jobs: JobKit,
    backend: Arc<dyn Backend>,
}

impl QueueKit {
    fn new(cx: &Arc<Cx>) -> Self {
        Self { jobs: JobKit::new(cx), backend: cx.backend() }
    }

    /// The same on a connection of its own.
    async fn another(&self) -> Self {
        let backend = self.jobs.cx.another().await;
        Self { jobs: self.jobs.another().await, backend }
    }

    fn queues(&self) -> &dyn Pipelines {
        self.backend.pipelines().expect("pipelines, or the check does not apply")
    }

    fn message(&self, name: &str) -> Message {
        NewJob { max_attempts: Some(3), ..self.jobs.job(name, "q") }.into()
    }

    async fn push(&self, messages: &[Message]) {
        let answers = self.queues().push(messages, "producer").await.expect("a push");
        assert!(answers.iter().all(|answer| *answer == Ok(Submitted::Submitted)), "{answers:?}");
    }

    async fn push_named(&self, names: impl IntoIterator<Item = String>) {
        let messages: Vec<_> = names.into_iter().map(|name| self.message(&name)).collect();
        self.push(&messages).await;
    }

    async fn look(&self, max: u32, stage: &Stage) -> ClaimedBatches {
        let claim = StageClaim {
            stage: stage.clone(),
            ..StageClaim::new("worker", &self.jobs.name("q"), max)
        };
        self.queues().claim_stage(&claim).await.expect("a claim")
    }

    async fn claim(&self, max: u32, stage: &Stage) -> Vec<ClaimedBatch> {
        self.look(max, stage).await.batches
    }

    /// Claims one by one, and says what was had.
    async fn names(&self, max: u32, stage: &Stage) -> Vec<String> {
        self.claim(max, stage).await.iter().flat_map(|batch| self.of(batch)).collect()
    }

    fn of(&self, batch: &ClaimedBatch) -> Vec<String> {
        let short = |message: &pgflow_runtime::backend::ClaimedJob| {
            self.jobs.short(message.taken.hold.job.as_str()).to_owned()
        };
        batch.messages.iter().map(short).collect()
    }

    async fn settle(&self, batch: &ClaimedBatch, end: &MessageEnd) -> Vec<JobSettled> {
        self.settle_all(&settles(batch, end)).await
    }

    async fn settle_all(&self, settles: &[MessageSettle]) -> Vec<JobSettled> {
        self.queues().settle_messages(settles, "worker").await.expect("settles")
    }

    async fn finish(&self, batch: &ClaimedBatch) {
        let answers = self.settle(batch, &done()).await;
        assert!(answers.iter().all(|answer| *answer == JobSettled::Applied), "{answers:?}");
    }
}

fn settles(batch: &ClaimedBatch, end: &MessageEnd) -> Vec<MessageSettle> {
    let settle = |hold: &pgflow_machine::job::JobHold| MessageSettle {
        hold: hold.clone(),
        need: batch.lease.need.clone(),
        end: end.clone(),
    };
    batch.lease.holds.iter().map(settle).collect()
}

fn done() -> MessageEnd {
    JobVerdict::Finished(().into()).into()
}

fn batches(len: u32, seconds: u64) -> Stage {
    let rule = BatchRule { len, bytes: None, wait: Duration::from_secs(seconds) };
    Stage { batch: Some(rule), ..Stage::default() }
}

fn held(resource: &str) -> Stage {
    Stage { resources: [(resource.to_owned(), 1)].into(), ..Stage::default() }
}
