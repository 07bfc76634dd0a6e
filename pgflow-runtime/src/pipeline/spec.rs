//! Pipelines, as a worker sees them: types are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::permit::{BatchRule, Rate, Stage, Units};

use super::OnFailure;
use super::code::StageCode;
use super::dead::OnDead;
use super::preload::{Loading, Preload};
use crate::backend::ClaimedBatch;

/// What it takes to work on something of a stage.
#[derive(Clone, Debug, Default)]
pub(super) struct Permits {
    pub(super) concurrency: Option<usize>,
    pub(super) resources: Units,
    pub(super) rates: Vec<(String, Rate)>,
    pub(super) lease: Option<Duration>,
    pub(super) prefetch: u32,
    /// Whether messages name resources of their own.
    pub(super) names_resources: bool,
}

impl Permits {
    /// What is named twice is held twice, wherever that was said.
    pub(super) fn hold(&mut self, slug: String, units: u32) {
        let all: &mut u32 = self.resources.entry(slug).or_default();
        *all = all.saturating_add(units);
    }
}

/// A pipeline that a worker can run: what [`Pipeline`](super::Pipeline) is with its last function.
pub struct PipelineSpec {
    pub(crate) name: &'static str,
    pub(crate) stages: Vec<StageSpec>,
    /// Rates that it declares, as often as it does.
    pub(crate) rates: Vec<(String, Rate)>,
    /// Resources that it has for itself, with their capacities.
    pub(crate) limits: BTreeMap<String, u32>,
    /// Whether its last batches are formed when a worker leaves.
    pub(crate) flushes: bool,
    /// How long its dead messages are kept, if that is said.
    pub(crate) keep: Option<Duration>,
    pub(crate) on_dead: Option<OnDead>,
    /// Whether its batches have a key that nobody asked for when messages were pushed.
    pub(crate) has_late_key: bool,
}

impl fmt::Debug for PipelineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, stages, .. } = self;
        f.debug_struct("PipelineSpec")
            .field("name", name)
            .field("stages", stages)
            .finish_non_exhaustive()
    }
}

/// A stage: what it takes of which queue, and its code.
pub(crate) struct StageSpec {
    pub(crate) need: &'static str,
    pub(crate) word: &'static str,
    pub(crate) stage: Stage,
    pub(crate) concurrency: Option<usize>,
    pub(crate) lease: Duration,
    pub(crate) prefetch: u32,
    pub(crate) code: StageCode,
    pub(crate) preload: Option<Preload>,
    pub(crate) takes_tx: bool,
    pub(crate) on_failure: OnFailure,
    /// Whether its messages name resources of their own.
    pub(crate) names_resources: bool,
}

/// What a stage is made of.
pub(super) struct StageParts {
    pub(super) need: &'static str,
    pub(super) permits: Permits,
    pub(super) batch: Option<BatchRule>,
    pub(super) code: StageCode,
    pub(super) preload: Option<Preload>,
    pub(super) takes_tx: bool,
    pub(super) on_failure: OnFailure,
}

impl StageSpec {
    /// Whether it may wait for this resource or rate.
    pub(crate) fn takes(&self, slug: &str) -> bool {
        self.names_resources || self.stage.takes(slug)
    }

    /// What is to be loaded for a claim that got these.
    pub(crate) fn loading<'b>(
        &self,
        claimed: impl Iterator<Item = &'b ClaimedBatch>,
    ) -> Option<Arc<Loading>> {
        let code = self.preload.clone()?;
        let messages = claimed.flat_map(|batch| &batch.messages);
        Some(Loading::new(code, messages.map(|message| message.payload.clone()).collect()))
    }
}

impl fmt::Debug for StageSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StageSpec").field("need", &self.need).finish_non_exhaustive()
    }
}

impl PipelineSpec {
    pub(super) fn new(name: &'static str) -> Self {
        let (rates, limits) = (Vec::new(), BTreeMap::new());
        let (stages, flushes, keep, on_dead) = (Vec::new(), false, None, None);
        Self { name, stages, rates, limits, flushes, keep, on_dead, has_late_key: false }
    }

    pub(super) fn add(&mut self, parts: StageParts) {
        let StageParts { need, permits, batch, code, preload, takes_tx, on_failure } = parts;
        let Permits { concurrency, resources, rates, lease, prefetch, names_resources } = permits;
        let lease = lease.unwrap_or(crate::worker::LEASE);
        let word = if batch.is_some() { "batch" } else { "process" };
        let names: BTreeSet<_> = rates.iter().map(|(slug, _)| slug.clone()).collect();
        let rates_of = names.into_iter().collect();
        let stage = Stage { batch, resources, rates: rates_of, of_queue: true, ..Stage::default() };
        self.rates.extend(rates);
        self.stages.push(StageSpec {
            need,
            word,
            stage,
            concurrency,
            lease,
            prefetch,
            code,
            preload,
            takes_tx,
            on_failure,
            names_resources,
        });
    }
}
