//! Pipelines, as a kind of work that a worker does.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{JobVerdict, LONGEST};
use pgflow_machine::permit::{MessageEnd, Rate, Stage, Units, is_of_batches};
use pgflow_machine::{Quota, Source, Want};

use super::code::Work;
use super::dead::why_dead;
use super::preload::Loading;
use super::transaction::{self, StageWork};
use super::{MessageContext, PipelineSpec, StageSpec};
use crate::backend::{Backend, BackendError, ClaimedBatch, ClaimedWork};
use crate::job_handler::JobExcuses;
use crate::worker::{
    Ended, Handler, InUse, Label, Permit, Prepared, Signals, WorkerError, metrics, persistently,
};

/// A shorter lease might lapse between two beats of a worker whose database takes a moment.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// The pipelines that a program brings along.
#[derive(Debug, Default)]
pub(crate) struct Pipelines(Vec<PipelineSpec>);

/// How long the dead messages of a need are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keeping {
    pub(crate) need: &'static str,
    pub(crate) keep: Duration,
}

impl Pipelines {
    pub(crate) fn with(mut self, pipeline: PipelineSpec) -> Self {
        self.0.push(pipeline);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What their stages take from.
    pub(crate) fn needs(&self) -> Vec<&'static str> {
        self.0.iter().flat_map(|pipeline| &pipeline.stages).map(|stage| stage.need).collect()
    }

    /// How long dead messages are kept, where that is said.
    pub(crate) fn keeping(&self) -> Vec<Keeping> {
        let keeping = |pipeline: &PipelineSpec| {
            let keep = pipeline.keep;
            let needs = pipeline.stages.iter().map(|stage| stage.need);
            needs.filter_map(move |need| Some(Keeping { need, keep: keep? })).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(keeping).collect()
    }

    /// Ready to work, or why not.
    pub(crate) async fn start(
        self,
        backend: Arc<dyn Backend>,
    ) -> Result<PipelineHandler, WorkerError> {
        let rates = check_all(&self.0)?;
        self.0.iter().try_for_each(|pipeline| can_run(pipeline, backend.as_ref()))?;
        let (queues, none) = (backend.pipelines()?, Units::new());
        persistently(|| queues.declare(&rates, &none)).await?;
        let limits = persistently(|| backend.limits()).await?;
        let mut stages = HashMap::new();
        for pipeline in self.0 {
            declare(backend.as_ref(), &pipeline).await?;
            let PipelineSpec { name, stages: own, flushes, on_dead, .. } = pipeline;
            for spec in own {
                let (need, takes_tx) = (spec.need, spec.takes_tx);
                let (code, on_failure) = (spec.code.clone(), spec.on_failure);
                let on_dead = on_dead.clone();
                let work = StageWork { code, takes_tx, on_dead, on_failure, limits };
                let running = Running {
                    pipeline: name,
                    spec,
                    work,
                    flushes,
                    in_use: InUse::default(),
                    ahead: InUse::default(),
                    lost: InUse::default(),
                };
                stages.insert(need, running);
            }
        }
        let (loadings, lost, excuses) = (HashMap::new(), HashMap::new(), Arc::default());
        Ok(PipelineHandler { stages, backend, loadings, lost, excuses })
    }
}

/// What is wrong with pipelines, whatever the database says; or the rates that they declare.
pub(crate) fn check_all(pipelines: &[PipelineSpec]) -> Result<BTreeMap<String, Rate>, WorkerError> {
    pipelines.iter().try_for_each(check)?;
    let mut needs = BTreeSet::new();
    for stage in pipelines.iter().flat_map(|pipeline| &pipeline.stages) {
        if !needs.insert(stage.need) {
            return Err(WorkerError::NeedTwice { need: stage.need });
        }
    }
    rates(pipelines)
}

/// Each counts until somebody says something else: two values would undo each other.
fn rates(pipelines: &[PipelineSpec]) -> Result<BTreeMap<String, Rate>, WorkerError> {
    let mut rates = BTreeMap::new();
    for (rate, second) in pipelines.iter().flat_map(|pipeline| pipeline.rates.iter().cloned()) {
        second.check().map_err(BackendError::Permit)?;
        match rates.insert(rate.clone(), second) {
            Some(first) if first != second => {
                return Err(WorkerError::RateTwice { rate, first, second });
            }
            _ => {}
        }
    }
    Ok(rates)
}

/// What is wrong with a pipeline in itself.
fn check(pipeline: &PipelineSpec) -> Result<(), WorkerError> {
    let name = pipeline.name;
    if pipeline.limits.values().any(|attempts| *attempts == 0) {
        return Err(WorkerError::Zero { what: format!("global_concurrency of pipeline `{name}`") });
    }
    if pipeline.has_late_key {
        return Err(WorkerError::LateKey { pipeline: name });
    }
    for spec in &pipeline.stages {
        spec.stage.check().map_err(BackendError::Permit)?;
        if spec.concurrency == Some(0) {
            return Err(WorkerError::Zero { what: format!("concurrency of pipeline `{name}`") });
        }
        if !(SHORTEST_LEASE..=LONGEST).contains(&spec.lease) {
            return Err(WorkerError::Lease { pipeline: name, lease: spec.lease });
        }
    }
    match pipeline.stages.first() {
        Some(first) if is_of_batches(first.need) => {
            Err(WorkerError::QueueOfBatches { pipeline: name, queue: first.need })
        }
        _ => Ok(()),
    }
}

/// Whether the database can do what a pipeline wants of it.
fn can_run(pipeline: &PipelineSpec, backend: &dyn Backend) -> Result<(), WorkerError> {
    let (abilities, backend) = (backend.abilities(), backend.name());
    if !pipeline.limits.is_empty() && !abilities.multi_process {
        return Err(WorkerError::OneProcess { pipeline: pipeline.name, backend });
    }
    let takes_tx = |stage: &&StageSpec| stage.takes_tx || pipeline.on_dead.is_some();
    match pipeline.stages.iter().find(takes_tx) {
        Some(stage) if !abilities.transactions => {
            Err(WorkerError::NoTransaction { need: stage.need, backend })
        }
        _ => Ok(()),
    }
}

/// Declares what a pipeline brings along; an error if a resource is not there.
pub(crate) async fn declare(
    backend: &dyn Backend,
    pipeline: &PipelineSpec,
) -> Result<(), BackendError> {
    let queues = backend.pipelines()?;
    for (slug, capacity) in &pipeline.limits {
        persistently(|| queues.set_capacity(slug, *capacity)).await?;
    }
    let held = most_held(&pipeline.stages);
    let no_rates = BTreeMap::new();
    persistently(|| queues.declare(&no_rates, &held)).await?;
    for stage in pipeline.stages.iter().filter(|stage| stage.names_resources) {
        warn_of_units(backend, stage).await?;
    }
    let stages = pipeline.stages.iter();
    let stages = stages.map(|stage| (stage.need.to_owned(), stage.stage.clone())).collect();
    persistently(|| queues.note_stages(&stages)).await
}

/// What a message names comes on top of what the stage holds: if that is all there is, no message may name it.
async fn warn_of_units(backend: &dyn Backend, spec: &StageSpec) -> Result<(), BackendError> {
    let queues = backend.pipelines()?;
    for (resource, units) in &spec.stage.resources {
        let found = persistently(|| queues.resource(resource)).await?;
        if found.is_some_and(|(it, _)| it.capacity <= *units) {
            let queue = spec.need;
            tracing::warn!(
                queue,
                resource,
                "messages that name this resource are refused: each attempt of the pipeline holds all of it already"
            );
        }
    }
    Ok(())
}

/// Of each resource, the most that an attempt of one of these stages holds.
fn most_held(stages: &[StageSpec]) -> Units {
    let mut most = Units::new();
    for (slug, units) in stages.iter().flat_map(|spec| &spec.stage.resources) {
        let all = most.entry(slug.clone()).or_default();
        *all = (*all).max(*units);
    }
    most
}

/// Runs the stages of pipelines.
pub(crate) struct PipelineHandler {
    stages: HashMap<&'static str, Running>,
    backend: Arc<dyn Backend>,
    /// What is loaded for attempts that have not begun, by what tells them from others.
    loadings: HashMap<String, Arc<Loading>>,
    /// Places of attempts at messages that were lost with their workers before, until they begin.
    lost: HashMap<String, Permit>,
    excuses: Arc<JobExcuses>,
}

impl fmt::Debug for PipelineHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PipelineHandler").field(&self.stages.keys()).finish()
    }
}

struct Running {
    pipeline: &'static str,
    spec: StageSpec,
    work: StageWork,
    flushes: bool,
    in_use: InUse,
    /// What was claimed before there was room for it.
    ahead: InUse,
    /// Attempts at messages that were lost with their workers before: one at a time, so that none takes another along.
    lost: InUse,
}

impl Running {
    /// How many more may be claimed ahead.
    fn may_fetch(&self) -> u32 {
        let waiting = u32::try_from(self.ahead.count()).unwrap_or(u32::MAX);
        self.spec.prefetch.saturating_sub(waiting)
    }

    /// How many more attempts may run, if that is limited.
    fn left(&self) -> Option<usize> {
        self.spec.concurrency.map(|max| max.saturating_sub(self.in_use.count()))
    }

    fn want(&self, drains: bool) -> Want {
        let StageSpec { need, stage, lease, .. } = &self.spec;
        let ahead = if drains { 0 } else { self.may_fetch() };
        let quota = |left| {
            let max = u32::try_from(left).unwrap_or(u32::MAX).saturating_add(ahead);
            Quota { step: (*need).to_owned(), max }
        };
        Want {
            source: Source::Need((*need).to_owned()),
            quotas: self.left().map(quota).into_iter().collect(),
            lease: Some(*lease),
            stage: Some(Stage { drains, has_lost: self.lost.count() > 0, ..stage.clone() }),
            ahead,
        }
    }
}

impl PipelineHandler {
    fn running(&self, work: &ClaimedWork) -> Option<&Running> {
        self.stages.get(messages(work)?.lease.need.as_str())
    }
}

fn messages(work: &ClaimedWork) -> Option<&ClaimedBatch> {
    match work {
        ClaimedWork::Messages(claimed) => Some(claimed),
        ClaimedWork::Task(_) | ClaimedWork::Job(..) => None,
    }
}

/// The message, if there is one: those of a batch are named by the traces of their jobs.
fn alone(claimed: &ClaimedBatch) -> Option<&str> {
    match &claimed.messages[..] {
        [message] => Some(message.taken.hold.job.as_str()),
        _ => None,
    }
}

/// Whether one of these was lost with a worker, and nothing has come of it since.
fn was_lost(claimed: &ClaimedBatch) -> bool {
    claimed.messages.iter().any(|message| message.taken.row.streak > 0)
}

impl Handler for PipelineHandler {
    fn sources(&self) -> Vec<Source> {
        self.stages.keys().map(|need| Source::Need((*need).to_owned())).collect()
    }

    fn takes(&self, slug: &str) -> bool {
        self.stages.values().any(|running| running.spec.takes(slug))
    }

    fn wants(&mut self) -> Vec<Want> {
        self.stages.values().map(|running| running.want(false)).collect()
    }

    fn last_wants(&mut self) -> Vec<Want> {
        let batches = self.stages.values();
        let batches = batches.filter(|stage| stage.flushes && stage.spec.stage.batch.is_some());
        batches.map(|running| running.want(true)).collect()
    }

    fn ahead(&self) -> u32 {
        self.stages.values().map(Running::may_fetch).sum()
    }

    fn claimed(&mut self, work: &[ClaimedWork]) {
        for claimed in work.iter().filter_map(messages).filter(|claimed| was_lost(claimed)) {
            if let Some(running) = self.stages.get(claimed.lease.need.as_str()) {
                self.lost.insert(claimed.lease.batch.clone(), running.lost.take());
            }
        }
        for running in self.stages.values() {
            let own = || {
                let claimed = work.iter().filter_map(messages);
                claimed.filter(|claimed| claimed.lease.need == running.spec.need)
            };
            if let Some(loading) = running.spec.loading(own()) {
                let ids = own().map(|claimed| claimed.lease.batch.clone());
                self.loadings.extend(ids.map(|id| (id, loading.clone())));
            }
        }
    }

    fn wait(&mut self, work: &ClaimedWork, is_full: bool) -> Option<Permit> {
        let running = self.running(work)?;
        let waits = is_full || running.left() == Some(0);
        waits.then(|| running.ahead.take())
    }

    fn forget(&mut self, work: &ClaimedWork) {
        if let Some(claimed) = messages(work) {
            self.loadings.remove(&claimed.lease.batch);
            self.lost.remove(&claimed.lease.batch);
        }
    }

    fn call(&mut self, work: ClaimedWork, signals: Signals) -> Result<Prepared, String> {
        let ClaimedWork::Messages(claimed) = work else {
            return Err("this is no work for pipelines".to_owned());
        };
        let need = claimed.lease.need.as_str();
        let Some(running) = self.stages.get(need) else {
            return Err(format!("this worker has no pipeline for queue `{need}`"));
        };
        let label = Label { flow: running.pipeline, step: running.spec.word };
        metrics::claimed(label.flow, &running.spec.stage, &claimed);
        let span = tracing::info_span!(
            "messages",
            pipeline = label.flow,
            stage = label.step,
            batch.id = claimed.lease.batch,
            messages = claimed.messages.len(),
            job.id = alone(&claimed),
        );
        let permit = running.spec.concurrency.map(|_| running.in_use.take());
        let loading = self.loadings.remove(&claimed.lease.batch);
        let lost = self.lost.remove(&claimed.lease.batch);
        let context =
            MessageContext { cancel: signals.cancel.clone(), ..MessageContext::of(&claimed) };
        let work = Work { claimed: *claimed, context, tx: None, loading };
        let (backend, excuses) = (Arc::clone(&self.backend), Arc::clone(&self.excuses));
        let (name, stage) = (label.flow, running.work.clone());
        let run = Box::pin(async move {
            signals.pulse.begin();
            let ended = attempt(name, stage, work, backend, excuses).await;
            // Another one that was lost may be claimed now.
            drop(lost);
            ended
        });
        Ok(Prepared { label, permit, span, run })
    }
}

async fn attempt(
    pipeline: &'static str,
    stage: StageWork,
    work: Work,
    backend: Arc<dyn Backend>,
    excuses: Arc<JobExcuses>,
) -> Ended {
    let rows: Vec<_> = work.claimed.messages.iter().map(|it| it.taken.row.clone()).collect();
    let said = |ends: &[MessageEnd]| {
        for (end, row) in ends.iter().zip(&rows) {
            if let JobVerdict::Failed { error, .. } = &end.verdict {
                let is_final = why_dead(end, row).is_some();
                tracing::warn!(error, is_final, "attempt at a message failed");
                if is_final {
                    metrics::dead(pipeline);
                }
            }
        }
    };
    transaction::attempt(&stage, work, backend, excuses, &said).await
}

/// Whether all of these have gone well.
pub(crate) fn word_of(ends: &[MessageEnd]) -> &'static str {
    let is = |of: fn(&JobVerdict) -> bool| ends.iter().any(|end| of(&end.verdict));
    if is(|verdict| matches!(verdict, JobVerdict::Failed { .. })) {
        "failed"
    } else if is(|verdict| matches!(verdict, JobVerdict::Released)) {
        "released"
    } else if is(|verdict| matches!(verdict, JobVerdict::HandedOver(_))) {
        "handed_over"
    } else {
        "completed"
    }
}
