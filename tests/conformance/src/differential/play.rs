//! Plays commands on a backend.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pgflow_machine::wait::{Awaited, HookToken, Signal, SignalTo, Signalled};
use pgflow_machine::{
    CompiledFor, RunId, Settle, Settled, Source, TaskKey, TaskLease, Until, Verdict, WorkerId,
};
use pgflow_model::{FlowShape, StepShape};
use pgflow_runtime::backend::{
    Backend, BackendError, Claim, ClaimedTask, FlowVersion, NewRun, Parts, Quota, RunRecord,
};
use serde_json::Value;

use super::command::{Ask, Attempt, Command, RUNS, To, WORKERS};
use super::draw::Flows;
use super::reply::{Reply, Seen, Task};
use crate::kit::{Log, options};
use crate::subject::Database;

/// Versions under names that are new, one per run.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// Flows.
    flows: [String; RUNS],
    /// Versions.
    slugs: [String; RUNS],
    /// A flow whose runs others wait for.
    pub(super) child: String,
}

/// What that flow is called in commands.
pub(super) const CHILD: &str = "child";

/// A token as commands have it.
pub(super) fn token(number: usize) -> HookToken {
    HookToken::from_stored(format!("token-{number}"))
}

/// Registers two versions of one flow, and another flow.
pub(super) async fn register(database: &dyn Database, shapes: &Flows) -> Names {
    let name = format!("d{:x}", RunId::new().0.as_u128() >> 32);
    let names = Names {
        flows: [name.clone(), name.clone(), format!("{name}_o")],
        slugs: [name.clone(), format!("{name}_v2"), format!("{name}_o")],
        child: format!("{name}_c"),
    };
    let (flow, slug) = (names.child.clone(), names.child.clone());
    let steps = vec![StepShape::new("x").map()];
    let shape = FlowShape { steps, options: options(2, 0, 1_000), ..FlowShape::new(&slug) };
    let child = FlowVersion { flow, version: 1, slug, shape };
    database.backend().ensure_flow(&child).await.expect("a flow can be registered");
    for (at, version) in [1, 2, 1].into_iter().enumerate() {
        let (flow, slug) = (names.flows[at].clone(), names.slugs[at].clone());
        let shape = FlowShape { slug: slug.clone(), ..shapes[at].clone() };
        let version = FlowVersion { flow, version, slug, shape };
        database.backend().ensure_flow(&version).await.expect("a flow can be registered");
    }
    names
}

pub(super) struct Player<'d> {
    database: &'d dyn Database,
    pub(super) backend: Arc<dyn Backend>,
    pub(super) names: Names,
    pub(super) runs: [RunId; RUNS],
    pub(super) workers: [WorkerId; WORKERS],
    /// Those that were found, with their numbers if they are ours.
    pub(super) children: Mutex<BTreeMap<RunId, Option<u64>>>,
}

impl<'d> Player<'d> {
    pub(super) fn new(database: &'d dyn Database, names: &Names) -> Self {
        let mut runs = [(); RUNS].map(|()| RunId::new());
        runs.sort();
        let backend = database.backend();
        let workers = [(); WORKERS].map(|()| WorkerId::new());
        let names = names.clone();
        Self { database, backend, names, runs, workers, children: Mutex::default() }
    }

    pub(super) async fn play(&self, command: &Command) -> Reply {
        self.ask(command).await.unwrap_or_else(|error| Reply::Refused(self.words(&error)))
    }

    async fn ask(&self, command: &Command) -> Result<Reply, BackendError> {
        Ok(match command {
            Command::Start { run, input } => {
                let flow = self.names.flows[*run].clone();
                let mut new = NewRun::new(flow, input.clone(), self.runs[*run]);
                // The others are the newest version of their flow.
                let first = CompiledFor { versions: vec![1], interface: None };
                new.compiled_for = (*run == 0).then(|| Arc::new(first));
                Reply::Started(self.backend.start(new).await?)
            }
            Command::Claim(ask) => Reply::Claimed(self.claim_all(ask).await?),
            Command::Commit { attempt, output } => {
                Reply::Committed(self.commit(attempt, output).await?)
            }
            Command::Drop(attempt) => {
                self.begin_and_drop(attempt).await?;
                Reply::Dropped
            }
            Command::Settle { items, claim } => {
                let settle = |(attempt, verdict): &(Attempt, _)| Settle {
                    lease: self.lease(attempt).into(),
                    verdict: self.verdict(verdict),
                };
                let items: Vec<_> = items.iter().map(settle).collect();
                let next = claim.as_ref().map(|ask| self.claim(ask));
                let work = self.backend.settle(&items, next.as_ref()).await?;
                Reply::Settled(work.settled, self.tasks(work.claimed.tasks))
            }
            Command::Heartbeat(attempts) => {
                let leases = attempts.iter().map(|attempt| self.lease(attempt).into());
                let leases: Vec<_> = leases.collect();
                Reply::Beats(self.backend.heartbeat(&leases).await?)
            }
            Command::Advance(seconds) => {
                let by = Duration::from_secs(*seconds);
                let slugs = self.names.slugs.iter().chain([&self.names.child]);
                self.database.advance_all(&slugs.cloned().collect::<Vec<_>>(), by).await;
                // Claims may wake what is due, and need not.
                self.backend.waits()?.wake_waits(1_000).await?;
                Reply::Advanced
            }
            Command::Sweep => Reply::Swept(self.backend.sweep().await?.requeued),
            Command::SweepAndClaim(ask) => {
                let (swept, claimed) = self.backend.sweep_and_claim(&self.claim(ask)).await?;
                Reply::SweptAndClaimed(swept.requeued, self.tasks(claimed.tasks))
            }
            Command::ReleaseUnknown { worker, known } => {
                let known: Vec<_> =
                    known.iter().map(|attempt| self.lease(attempt).into()).collect();
                let queues = self.names.slugs.clone().map(Source::Queue);
                let worker = self.workers[*worker];
                Reply::Released(self.backend.release_unknown(worker, &queues, &known).await?)
            }
            Command::Signal { to, resume_id, payload } => {
                let resume_id = resume_id.map(|number| format!("resume-{number}"));
                let to = match to {
                    To::Task(attempt) => SignalTo::Task(self.lease(attempt).task),
                    To::Token(number) => SignalTo::Token(self.own(&token(*number))),
                };
                let signal = Signal { resume_id, ..Signal::new(to, payload.clone()) };
                let signalled = match self.backend.waits()?.signal(&signal).await? {
                    // Words may differ, places may not.
                    Signalled::Rejected { path, .. } => format!("rejected at {path:?}"),
                    other => self.without_ids(format!("{other:?}")),
                };
                Reply::Signalled(signalled)
            }
            Command::Cancel { run } => {
                Reply::Cancelled(self.backend.cancel(self.runs[*run], Some("why")).await?)
            }
            Command::Retry { run } => Reply::Retried(self.backend.retry(self.runs[*run]).await?),
            Command::Children { odd, verdict } => {
                Reply::Children(self.end_children(*odd, verdict.as_ref()).await?)
            }
            Command::Look => {
                // Who is an orphan is cancelled by the next sweep at the latest.
                self.backend.waits()?.wake_waits(1_000).await?;
                self.find_children().await?;
                Reply::Seen(self.look().await?, self.look_at_children().await?)
            }
        })
    }

    async fn look(&self) -> Result<Vec<Option<Seen>>, BackendError> {
        let mut seen = Vec::new();
        for run in self.runs {
            seen.push(self.look_at(run).await?);
        }
        Ok(seen)
    }

    pub(super) async fn look_at(&self, run: RunId) -> Result<Option<Seen>, BackendError> {
        let record = self.backend.run(run, Parts::Outputs).await?;
        let log = Log::read_by(&*self.backend, run, 1_000).await.lines();
        let log = log.into_iter().map(|line| self.without_ids(line)).collect();
        Ok(record.map(|record| Seen::new(self.renamed(record), log)))
    }

    /// Errors and reasons may name runs.
    fn renamed(&self, mut record: RunRecord) -> RunRecord {
        for step in &mut record.steps {
            step.error = step.error.take().map(|error| self.without_ids(error));
            if let Some(work) = &mut step.work {
                work.last_error = work.last_error.take().map(|error| self.without_ids(error));
            }
        }
        record.cancel_reason = record.cancel_reason.map(|reason| self.without_ids(reason));
        record
    }

    /// Ends what is open, so that nothing of it meets the next sequence.
    pub(super) async fn end(&self) {
        for run in self.runs {
            self.backend.cancel(run, None).await.expect("a run can be cancelled");
        }
        self.cancel_children().await.expect("children can be cancelled");
    }

    fn claim(&self, ask: &Ask) -> Claim {
        let quota = |step: &String| Quota { step: step.clone(), max: 0 };
        let queues = ask.queues.iter().map(|at| self.names.slugs[*at].as_str());
        let most = ask.portion.unwrap_or(1_000);
        let mut claim = Claim::of_queues(queues, most, self.workers[ask.worker]);
        for want in &mut claim.wants {
            want.quotas.extend(ask.without.as_ref().map(quota));
        }
        claim
    }

    /// All that is asked for, in portions if that is asked for too.
    async fn claim_all(&self, ask: &Ask) -> Result<Vec<Task>, BackendError> {
        let (claim, mut all) = (self.claim(ask), Vec::new());
        loop {
            let claimed = self.backend.claim(&claim).await?.tasks;
            assert!(claimed.len() <= claim.max as usize, "more than was asked for");
            let is_last = ask.portion.is_none() || claimed.is_empty();
            all.extend(claimed);
            if is_last {
                return Ok(self.tasks(all));
            }
        }
    }

    /// Begins a transaction for this attempt, where there are any, and gives it up.
    async fn begin_and_drop(&self, attempt: &Attempt) -> Result<(), BackendError> {
        if self.backend.abilities().transactions {
            drop(self.backend.begin(&self.lease(attempt).into()).await?);
        }
        Ok(())
    }

    /// Nothing if the lease does not hold. Where there are no transactions, a settle says the same.
    async fn commit(
        &self,
        attempt: &Attempt,
        output: &Value,
    ) -> Result<Option<Settled>, BackendError> {
        let verdict = Verdict::Completed(output.clone());
        let settle = Settle { lease: self.lease(attempt).into(), verdict };
        if self.backend.abilities().transactions {
            let tx = self.backend.begin(&settle.lease).await?;
            let Some(tx) = tx else { return Ok(None) };
            return self.backend.commit(tx, &settle).await.map(Some);
        }
        let settled = self.backend.settle(&[settle], None).await?.settled;
        Ok(settled.first().copied().filter(|outcome| *outcome == Settled::Applied))
    }

    /// What an error says, without names that differ.
    fn words(&self, error: &BackendError) -> String {
        self.without_ids(error.to_string())
    }

    /// What is said in a verdict, with names of this player's own.
    fn verdict(&self, verdict: &Verdict) -> Verdict {
        let mut verdict = verdict.clone();
        if let Verdict::Yielded { until: Until::Met(wait), .. } = &mut verdict {
            match &mut wait.on {
                Awaited::Hook(token) => *token = self.own(token),
                Awaited::Runs { children, .. } => {
                    for child in children {
                        self.adopt(child);
                    }
                }
                Awaited::Sleep(_) | Awaited::Jobs { .. } => {}
            }
        }
        verdict
    }

    /// A token that no other player uses.
    fn own(&self, token: &HookToken) -> HookToken {
        HookToken::from_stored(format!("{}-{}", self.runs[0], token.as_str()))
    }

    fn without_ids(&self, mut text: String) -> String {
        for (at, run) in self.runs.iter().enumerate() {
            text = text.replace(&run.to_string(), &format!("run {at}"));
        }
        for (run, number) in &*self.children() {
            text = text.replace(&run.to_string(), &format!("child {number:?}"));
        }
        // The longer names first: they contain the others.
        for at in [2, 1, 0] {
            text = text.replace(&self.names.slugs[at], &format!("flow {at}"));
        }
        text
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
