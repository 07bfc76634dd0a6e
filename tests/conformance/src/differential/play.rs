//! Plays commands on a backend.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{RunId, Settle, Source, TaskKey, TaskLease, WorkerId};
use pgflow_model::FlowShape;
use pgflow_runtime::backend::{
    Backend, BackendError, Claim, ClaimedTask, FlowVersion, NewRun, Parts, Quota,
};

use super::command::{Attempt, Command, RUNS};
use super::reply::{Reply, Seen, Task};
use crate::kit::Log;
use crate::subject::Database;

/// Registers a flow under a name that nobody has.
pub(super) async fn register(database: &dyn Database, shape: &FlowShape) -> String {
    let slug = format!("d{:x}", RunId::new().0.as_u128() >> 32);
    let shape = FlowShape { slug: slug.clone(), ..shape.clone() };
    let version = FlowVersion { flow: slug.clone(), version: 1, slug: slug.clone(), shape };
    database.backend().ensure_flow(&version).await.expect("a flow can be registered");
    slug
}

pub(super) struct Player<'d> {
    database: &'d dyn Database,
    backend: Arc<dyn Backend>,
    slug: String,
    runs: [RunId; RUNS],
    worker: WorkerId,
}

impl<'d> Player<'d> {
    pub(super) fn new(database: &'d dyn Database, slug: &str) -> Self {
        let mut runs = [(); RUNS].map(|()| RunId::new());
        runs.sort();
        let backend = database.backend();
        Self { database, backend, slug: slug.into(), runs, worker: WorkerId::new() }
    }

    pub(super) async fn play(&self, command: &Command) -> Reply {
        self.ask(command).await.unwrap_or_else(|error| Reply::Refused(kind(&error)))
    }

    async fn ask(&self, command: &Command) -> Result<Reply, BackendError> {
        Ok(match command {
            Command::Start { run, input } => {
                let (flow, input) = (self.slug.clone(), input.clone());
                Reply::Started(self.backend.start(NewRun::new(flow, input, self.runs[*run])).await?)
            }
            Command::Claim { without } => {
                let claimed = self.backend.claim(&self.claim(without.as_deref())).await?;
                Reply::Claimed(self.tasks(claimed.tasks))
            }
            Command::Settle { items, claim } => {
                let settle = |(attempt, verdict): &(Attempt, _)| Settle {
                    lease: self.lease(attempt).into(),
                    verdict: Clone::clone(verdict),
                };
                let items: Vec<_> = items.iter().map(settle).collect();
                let next = claim.then(|| self.claim(None));
                let work = self.backend.settle(&items, next.as_ref()).await?;
                Reply::Settled(work.settled, self.tasks(work.claimed.tasks))
            }
            Command::Heartbeat(attempts) => {
                let leases = attempts.iter().map(|attempt| self.lease(attempt).into());
                let leases: Vec<_> = leases.collect();
                Reply::Beats(self.backend.heartbeat(&leases).await?)
            }
            Command::Advance(seconds) => {
                self.database.advance(&self.slug, Duration::from_secs(*seconds)).await;
                Reply::Advanced
            }
            Command::Sweep => Reply::Swept(self.backend.sweep().await?.requeued),
            Command::SweepAndClaim => {
                let (swept, claimed) = self.backend.sweep_and_claim(&self.claim(None)).await?;
                Reply::SweptAndClaimed(swept.requeued, self.tasks(claimed.tasks))
            }
            Command::ReleaseUnknown { known } => {
                let known: Vec<_> =
                    known.iter().map(|attempt| self.lease(attempt).into()).collect();
                let queues = [Source::queue(&*self.slug)];
                Reply::Released(self.backend.release_unknown(self.worker, &queues, &known).await?)
            }
            Command::Cancel { run } => {
                Reply::Cancelled(self.backend.cancel(self.runs[*run], Some("why")).await?)
            }
            Command::Retry { run } => Reply::Retried(self.backend.retry(self.runs[*run]).await?),
            Command::Look => Reply::Seen(self.look().await?),
        })
    }

    async fn look(&self) -> Result<Vec<Option<Seen>>, BackendError> {
        let mut seen = Vec::new();
        for run in self.runs {
            let record = self.backend.run(run, Parts::Outputs).await?;
            let log = Log::read_by(&*self.backend, run, 1_000).await.lines();
            seen.push(record.map(|record| Seen::new(record, log)));
        }
        Ok(seen)
    }

    /// Ends what is open, so that nothing of it meets the next sequence.
    pub(super) async fn end(&self) {
        for run in self.runs {
            self.backend.cancel(run, None).await.expect("a run can be cancelled");
        }
    }

    fn claim(&self, without: Option<&str>) -> Claim {
        let quota = |step: &str| Quota { step: step.into(), max: 0 };
        let mut claim = Claim::of_queues([self.slug.as_str()], 1_000, self.worker);
        claim.wants[0].quotas.extend(without.map(quota));
        claim
    }

    fn lease(&self, attempt: &Attempt) -> TaskLease {
        let Attempt { run, step, index, number } = attempt;
        let task = TaskKey { run: self.runs[*run], step: step.clone(), index: *index };
        TaskLease { task, attempt: *number }
    }

    fn tasks(&self, claimed: Vec<ClaimedTask>) -> Vec<Task> {
        let mut tasks: Vec<_> = claimed.into_iter().map(|task| self.task(task)).collect();
        tasks.sort_by(|one, other| one.attempt.cmp(&other.attempt));
        tasks
    }

    fn task(&self, task: ClaimedTask) -> Task {
        let TaskLease { task: TaskKey { run, step, index }, attempt: number } = task.lease;
        let run = self.runs.iter().position(|id| *id == run).expect("a run of this sequence");
        let attempt = Attempt { run, step, index, number };
        Task { attempt, input: task.input, seconds: task.timeout.as_secs() }
    }
}

/// Texts and sources may differ.
fn kind(error: &BackendError) -> String {
    let text = format!("{error:?}");
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}
