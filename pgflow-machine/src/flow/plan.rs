//! A flow, made ready to be run.

use std::collections::HashMap;
use std::sync::Arc;

use pgflow_model::{FlowShape, OnSkip, Pattern, StepKind, StepOptions, StepShape};

/// A version of a flow as the transitions need it: steps by number, with their options filled in.
///
/// Steps are numbered in the order of [`FlowShape::normalized`], in which migrations create them, so
/// events come in the same order on every database.
///
/// ```
/// use pgflow_machine::Plan;
/// use pgflow_model::{FlowShape, StepShape};
///
/// let mut flow = FlowShape::new("orders");
/// flow.steps = vec![StepShape::new("ship").after("pay"), StepShape::new("pay")];
/// let plan = Plan::new(&flow)?;
/// assert_eq!(plan.index("pay"), Some(0));
/// assert_eq!(plan.step(1).deps, [0]);
/// assert_eq!(plan.step(1).max_attempts, 3);
/// # Ok::<(), pgflow_machine::InvalidShape>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    slug: Arc<str>,
    steps: Vec<PlanStep>,
    indexes: HashMap<Arc<str>, usize>,
}

/// A step of a [`Plan`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// Its slug.
    pub slug: Arc<str>,
    /// Whether it has a task per element.
    pub is_map: bool,
    /// Numbers of the steps it waits for, ascending.
    pub deps: Vec<usize>,
    /// Numbers of the steps that wait for it, ascending.
    pub dependents: Vec<usize>,
    /// Runs only if its input contains this.
    pub only_if: Option<Pattern>,
    /// Runs only if its input does not contain this.
    pub unless: Option<Pattern>,
    /// What happens when the condition is not met.
    pub when_unmet: OnSkip,
    /// What happens when the attempts run out.
    pub when_exhausted: OnSkip,
    /// How many attempts count before it is exhausted.
    pub max_attempts: u32,
    /// What the delay before a retry is computed from, in seconds.
    pub base_delay: u32,
    /// Longest run of one task, in seconds.
    pub timeout: u32,
    /// Delay before the first attempt, in seconds.
    pub start_delay: u32,
    /// Whether a map works on its output.
    pub feeds_map: bool,
}

/// Why a shape is not a flow that can run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidShape {
    /// A dependency is missing, or part of a circle.
    #[error("step `{step}` of flow `{flow}` waits for a step that is not there, or for itself")]
    Dependency {
        /// The flow.
        flow: String,
        /// The step.
        step: String,
    },
    /// A map of more than one step.
    #[error("step `{step}` of flow `{flow}` is a map, and waits for {count} steps instead of one")]
    Map {
        /// The flow.
        flow: String,
        /// The step.
        step: String,
        /// How many steps it waits for.
        count: usize,
    },
}

/// Seconds of the back-off when neither step nor flow says so.
const DEFAULT_BASE_DELAY: u32 = 5;
/// Seconds of the timeout when neither step nor flow says so.
const DEFAULT_TIMEOUT: u32 = 60;

impl Plan {
    /// From the shape of a version, in any order.
    pub fn new(shape: &FlowShape) -> Result<Self, InvalidShape> {
        let normal = shape.normalized();
        shape.steps.iter().try_for_each(|step| check(step, &normal))?;
        let slugs = normal.steps.iter().map(|step| Arc::from(&*step.slug));
        let indexes: HashMap<Arc<str>, usize> = slugs.zip(0..).collect();
        let mut steps: Vec<_> =
            normal.steps.iter().map(|step| plan_step(step, &shape.options, &indexes)).collect();
        for at in 0..steps.len() {
            for dep in steps[at].deps.clone() {
                steps[dep].feeds_map |= steps[at].is_map;
                steps[dep].dependents.push(at);
            }
        }
        Ok(Self { slug: Arc::from(&*shape.slug), steps, indexes })
    }

    /// Slug of the version, which is also the name of its queue.
    pub fn slug(&self) -> &Arc<str> {
        &self.slug
    }

    /// Its steps, in the order of their numbers.
    pub fn steps(&self) -> &[PlanStep] {
        &self.steps
    }

    /// The step of this number.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn step(&self, index: usize) -> &PlanStep {
        &self.steps[index]
    }

    /// The number of the step of this slug.
    pub fn index(&self, slug: &str) -> Option<usize> {
        self.indexes.get(slug).copied()
    }

    /// Whether a step without dependencies maps over the run's input.
    pub fn has_root_map(&self) -> bool {
        self.steps.iter().any(|step| step.is_map && step.deps.is_empty())
    }
}

impl PlanStep {
    /// Whether it runs only under some condition.
    pub fn has_condition(&self) -> bool {
        self.only_if.is_some() || self.unless.is_some()
    }
}

fn check(step: &StepShape, normal: &FlowShape) -> Result<(), InvalidShape> {
    let (flow, slug, count) = (normal.slug.clone(), step.slug.clone(), step.depends_on.len());
    if normal.step(&slug).is_none() {
        return Err(InvalidShape::Dependency { flow, step: slug });
    }
    if step.kind == StepKind::Map && count > 1 {
        return Err(InvalidShape::Map { flow, step: slug, count });
    }
    Ok(())
}

fn plan_step(step: &StepShape, flow: &StepOptions, indexes: &HashMap<Arc<str>, usize>) -> PlanStep {
    let mut deps: Vec<_> = step.depends_on.iter().map(|dep| indexes[&**dep]).collect();
    deps.sort_unstable();
    let options = step.options.or(*flow);
    PlanStep {
        slug: Arc::from(&*step.slug),
        is_map: step.kind == StepKind::Map,
        deps,
        dependents: Vec::new(),
        only_if: step.only_if.clone(),
        unless: step.unless.clone(),
        when_unmet: step.when_unmet,
        when_exhausted: step.when_exhausted,
        max_attempts: options.max_attempts.unwrap_or(StepOptions::DEFAULT_MAX_ATTEMPTS),
        base_delay: options.base_delay.unwrap_or(DEFAULT_BASE_DELAY),
        timeout: options.timeout.unwrap_or(DEFAULT_TIMEOUT),
        // There is no such option of a flow.
        start_delay: step.options.start_delay.unwrap_or(0),
        feeds_map: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_waits_for_nobody_knows_whom_is_refused() {
        let mut flow = FlowShape::new("orders");
        flow.steps = vec![StepShape::new("a"), StepShape::new("b").after("c")];
        let error = InvalidShape::Dependency { flow: "orders".into(), step: "b".into() };
        assert_eq!(Plan::new(&flow), Err(error));
    }

    #[test]
    fn a_map_of_two_steps_is_refused() {
        let mut flow = FlowShape::new("orders");
        let map = StepShape::new("c").map().after("a").after("b");
        flow.steps = vec![StepShape::new("a"), StepShape::new("b"), map];
        let error = Plan::new(&flow).unwrap_err();
        let text = "step `c` of flow `orders` is a map, and waits for 2 steps instead of one";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn dependents_and_maps_are_known_from_the_other_side() {
        let mut flow = FlowShape::new("orders");
        flow.options.timeout = Some(7);
        flow.steps = vec![StepShape::new("a"), StepShape::new("b").map().after("a")];
        let plan = Plan::new(&flow).expect("a flow");
        assert_eq!(plan.step(0).dependents, [1]);
        assert!(plan.step(0).feeds_map && !plan.step(1).feeds_map);
        assert_eq!((plan.step(1).timeout, plan.step(1).base_delay), (7, 5));
    }
}
