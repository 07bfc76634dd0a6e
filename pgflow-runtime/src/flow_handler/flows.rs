//! The flows that a program brings along.

use std::sync::Arc;

use super::gated::Gated;
use super::limits::StepLimits;
use super::run_inputs::RunInputs;
use super::shared::Shared;
use super::{FlowHandler, served};
use crate::backend::Backend;
use crate::worker::excuses::Excuses;
use crate::worker::{WorkerError, persistently};
use crate::{Flow, FlowDef, RegisterError, Registry, States, Step};

/// The flows that a program brings along, with what their steps need.
#[derive(Debug)]
pub(crate) struct Flows {
    registry: Result<Registry, RegisterError>,
    states: States,
    limits: Vec<Limit>,
}

/// How many tasks of a step run at once.
#[derive(Debug)]
struct Limit {
    flow: &'static str,
    step: &'static str,
    max: usize,
}

impl Default for Flows {
    fn default() -> Self {
        Self { registry: Ok(Registry::default()), states: States::default(), limits: Vec::new() }
    }
}

impl Flows {
    pub(crate) fn with<F: Flow>(self, flow: F) -> Self {
        Self { registry: self.registry.and_then(|registry| registry.with(flow)), ..self }
    }

    pub(crate) fn state<T: Clone + Send + Sync + 'static>(self, value: T) -> Self {
        Self { states: self.states.with(value), ..self }
    }

    pub(crate) fn limit<S: Step<Flow: Flow>>(mut self, max: usize) -> Self {
        let flow = <S::Flow as Flow>::SLUG;
        self.limits.push(Limit { flow, step: S::SLUG, max });
        self
    }

    /// Whether there are none; what is wrong with one counts as one.
    pub(crate) fn is_empty(&self) -> bool {
        self.registry.as_ref().is_ok_and(|registry| registry.flows().next().is_none())
    }

    /// What the flows are.
    pub(crate) fn defs(&self) -> Vec<&'static FlowDef> {
        self.registry.iter().flat_map(Registry::flows).collect()
    }

    /// Names of the flows.
    pub(crate) fn slugs(&self) -> Vec<&'static str> {
        self.registry.iter().flat_map(Registry::flows).map(|flow| flow.slug).collect()
    }

    /// Ready to work, or why not: compares what the program has with what the database has.
    pub(crate) async fn start(self, backend: Arc<dyn Backend>) -> Result<FlowHandler, WorkerError> {
        let Self { registry, states, limits: asked } = self;
        let registry = registry?;
        served::check_program(&registry, &states, backend.as_ref())?;
        let step_limits = step_limits(&registry, &asked)?;
        let served = served::known(&registry, backend.as_ref()).await?;
        let gated = Gated::of(&served);
        gated.declare(backend.as_ref()).await?;
        let limits = persistently(|| backend.limits()).await?;
        let (inputs, excuses) = (RunInputs::default(), Excuses::default());
        let shared = Shared { backend, served, states, limits, inputs, excuses };
        Ok(FlowHandler { shared: Arc::new(shared), limits: step_limits, gated })
    }
}

fn step_limits(registry: &Registry, asked: &[Limit]) -> Result<StepLimits, WorkerError> {
    let (mut limits, served) = (StepLimits::default(), registry.served());
    for &Limit { flow, step, max } in asked {
        if max == 0 {
            return Err(WorkerError::Zero { what: format!("limit of step `{step}`") });
        }
        if !registry.flows().any(|known| known.slug == flow && known.step(step).is_some()) {
            return Err(WorkerError::UnknownLimit { flow, step });
        }
        limits.add((flow, step), max, &served);
    }
    Ok(limits)
}
