//! Runs of a database under concurrency, played again by the machine.
//!
//! Several workers complete, fail and give back tasks of the same runs at the same time, and now and then cancel
//! one. A run's events are dense and ordered, so its log says in which order the database let all that happen: memory
//! does the same things in that order, and must come to the same log. Each transaction ends one step at most, or the
//! log would not say what belongs together.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::join_all;
use pgflow_machine::{
    Event, Happened, Retry, RunId, Settle, TaskKey, TaskLease, Verdict, WorkerId,
};
use pgflow_model::{FlowShape, StepKind};
use pgflow_runtime::backend::{Backend, Claim, FlowVersion, NewRun};
use serde_json::Value;

use super::draw;
use super::random::Random;
use crate::kit::{Log, lines};
use crate::subject::Subject;
use crate::subjects::InMemory;

const WORKERS: u64 = 4;
const RUNS: u64 = 6;
/// Rounds of a worker: enough for most runs to end.
const ROUNDS: usize = 60;

/// Lets workers loose on a flow from this seed, and plays all its runs again.
///
/// # Errors
/// With the first run that the machine comes to another log for.
pub async fn replay_concurrent(subject: &dyn Subject, seed: u64) -> Result<u64, String> {
    let database = subject.fresh().await;
    let [mut shape, ..] = draw::flows(&mut Random::new(seed));
    shape.slug = format!("t{:x}", RunId::new().0.as_u128() >> 32);
    register(&*database.backend(), &shape).await;
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        let mut random = Random::new(seed.wrapping_add(runs.len() as u64));
        let new = NewRun::new(&*shape.slug, draw::input(&mut random, &shape), RunId::new());
        if database.backend().start(new.clone()).await.is_ok() {
            runs.push(new);
        }
    }
    if runs.is_empty() {
        return Ok(0); // The flow maps over an input that is no array.
    }
    let ids: Vec<_> = runs.iter().map(|run| run.id).collect();
    let workers = (0..WORKERS).map(|nth| {
        let random = Random::new(seed ^ (nth + 1) << 32);
        let worker = Worker { backend: database.backend(), shape: &shape, runs: &ids, random };
        worker.work()
    });
    join_all(workers).await;
    let mut events = 0;
    for new in runs {
        let log = Log::read(&*database.backend(), new.id).await.0;
        events += log.len() as u64;
        let same = replay(&shape, new, &log).await;
        same.map_err(|why| format!("{}, seed {seed}: {why}", subject.name()))?;
    }
    Ok(events)
}

async fn register(backend: &dyn Backend, shape: &FlowShape) {
    let (flow, slug) = (shape.slug.clone(), shape.slug.clone());
    let version = FlowVersion { flow, version: 1, slug, shape: shape.clone() };
    backend.ensure_flow(&version).await.expect("a flow can be registered");
}

/// One of several that work on the same runs.
struct Worker<'r> {
    backend: Arc<dyn Backend>,
    shape: &'r FlowShape,
    runs: &'r [RunId],
    random: Random,
}

impl Worker<'_> {
    async fn work(mut self) {
        let id = WorkerId::new();
        for _ in 0..ROUNDS {
            let max = 1 + u32::try_from(self.random.below(3)).unwrap_or(0);
            let claim = Claim::of_queues([&*self.shape.slug], max, id);
            let claimed = self.backend.claim(&claim).await.expect("work can be claimed");
            for task in claimed.tasks {
                let verdict = self.verdict(&task.lease.task.step);
                let settle = Settle { lease: task.lease.into(), verdict };
                self.backend.settle(&[settle], None).await.expect("an attempt can be settled");
            }
            self.disturb().await;
        }
    }

    fn verdict(&mut self, step: &str) -> Verdict {
        let retry = |retry| Verdict::Failed { error: "boom".into(), retry };
        match self.random.below(20) {
            0 => Verdict::Released,
            1 | 2 => retry(Retry::After(std::time::Duration::ZERO)),
            3 => retry(Retry::Never),
            _ => Verdict::Completed(self.output(step)),
        }
    }

    /// An array wherever a map follows: why a run broke would not be in its log.
    fn output(&mut self, step: &str) -> Value {
        let feeds_map = self
            .shape
            .steps
            .iter()
            .any(|it| it.kind == StepKind::Map && it.depends_on.iter().any(|dep| dep == step));
        let is_map = self.shape.step(step).is_some_and(|it| it.kind == StepKind::Map);
        if feeds_map && !is_map {
            return serde_json::json!([self.random.below(3), null]);
        }
        serde_json::json!({"go": self.random.below(2)})
    }

    /// Now and then a run is cancelled. None is retried: how many tasks of a failed map were done is not in the log.
    async fn disturb(&mut self) {
        if self.random.below(100) == 0 {
            let run = *self.random.pick(self.runs);
            self.backend.cancel(run, Some("enough")).await.expect("an answer");
        }
    }
}

/// Lets memory do what a log says, one cause after the other.
async fn replay(shape: &FlowShape, new: NewRun, log: &[Event]) -> Result<(), String> {
    let memory = InMemory.fresh().await;
    register(&*memory.backend(), shape).await;
    let (run, backend) = (new.id, memory.backend());
    backend.start(new).await.expect("memory starts what the database has started");
    let mut player =
        Replayer { backend, shape, run, worker: WorkerId::new(), held: HashMap::new() };
    loop {
        let done = Log::read(&*player.backend, run).await.0;
        let (expected, found) = (lines(log), lines(&done));
        if !expected.starts_with(&found) {
            return Err(format!("the log of the run is {expected:#?}, the machine's {found:#?}"));
        }
        let Some(cause) = log.get(done.len()) else { return Ok(()) };
        player.cause(&cause.what).await?;
        if Log::read(&*player.backend, run).await.0.len() == done.len() {
            return Err(format!("the machine does nothing for {}", cause.what));
        }
    }
}

struct Replayer<'s> {
    backend: Arc<dyn Backend>,
    shape: &'s FlowShape,
    run: RunId,
    worker: WorkerId,
    /// Attempts that memory has handed out.
    held: HashMap<TaskKey, u32>,
}

impl Replayer<'_> {
    /// Does what leads to an event.
    async fn cause(&mut self, event: &Happened) -> Result<(), String> {
        match event {
            Happened::StepCompleted { step, output } => self.complete(step, output).await,
            Happened::StepFailed { step, error }
            | Happened::StepSkipped { step, error: Some(error), .. } => {
                self.fail(step, error).await;
            }
            Happened::RunCancelled { reason } => {
                let reason = reason.as_deref();
                self.backend.cancel(self.run, reason).await.expect("an answer");
            }
            other => return Err(format!("nothing that workers do leads to {other}")),
        }
        Ok(())
    }

    async fn complete(&mut self, step: &str, output: &Value) {
        let is_map = self.shape.step(step).is_some_and(|it| it.kind == StepKind::Map);
        let outputs = match output {
            Value::Array(elements) if is_map => elements.clone(),
            output => vec![output.clone()],
        };
        self.claim().await;
        let settles = (0..).zip(outputs);
        let settles = settles.map(|(at, output)| self.settle(step, at, Verdict::Completed(output)));
        let settles: Vec<_> = settles.collect();
        self.backend.settle(&settles, None).await.expect("attempts can be settled");
    }

    async fn fail(&mut self, step: &str, error: &str) {
        self.claim().await;
        let verdict = Verdict::Failed { error: error.to_owned(), retry: Retry::Never };
        // Any task of it: which one it was is not in the log.
        let open = self.held.keys().filter(|task| task.step == step).map(|task| task.index).min();
        let settle = self.settle(step, open.unwrap_or(0), verdict);
        self.backend.settle(&[settle], None).await.expect("an attempt can be settled");
    }

    async fn claim(&mut self) {
        let claim = Claim::of_queues([&*self.shape.slug], 1_000, self.worker);
        let claimed = self.backend.claim(&claim).await.expect("work can be claimed");
        let leases = claimed.tasks.into_iter().map(|task| task.lease);
        self.held.extend(leases.map(|lease| (lease.task, lease.attempt)));
    }

    fn settle(&self, step: &str, index: u32, verdict: Verdict) -> Settle {
        let task = TaskKey { run: self.run, step: step.to_owned(), index };
        let attempt = self.held.get(&task).copied().unwrap_or(0);
        Settle { lease: TaskLease { task, attempt }.into(), verdict }
    }
}
