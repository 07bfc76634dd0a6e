//! A run under way, one step after another.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pgflow_model::{OnSkip, Pattern, StepKind, StepOptions};
use serde_json::{Map, Value};

use super::{FinishedRun, RunError, StepStatus};
use crate::{Context, DataError, Error, Flow, FlowDef, RunOutputs, States, StepDef, Task};

pub(super) struct Run {
    flow: &'static FlowDef,
    id: Arc<str>,
    input: Arc<Value>,
    states: States,
    outputs: HashMap<&'static str, Arc<Value>>,
    steps: HashMap<&'static str, StepStatus>,
    /// Steps that were skipped with everything after them.
    cascades: HashSet<&'static str>,
}

/// A task that has no attempts left.
struct Exhausted {
    attempt: u32,
    error: Error,
}

impl Run {
    pub(super) fn new(flow: &'static FlowDef, input: Value, states: States) -> Self {
        Self {
            flow,
            id: Arc::from("test"),
            input: Arc::new(input),
            states,
            outputs: HashMap::new(),
            steps: HashMap::new(),
            cascades: HashSet::new(),
        }
    }

    pub(super) fn finish<F: Flow>(self) -> FinishedRun<F> {
        FinishedRun { outputs: RunOutputs::new(self.outputs), steps: self.steps }
    }

    /// Runs a step whose dependencies have all been dealt with.
    pub(super) async fn step(&mut self, step: &'static StepDef) -> Result<(), RunError> {
        if step.depends_on.iter().any(|dep| self.cascades.contains(dep)) {
            self.skip(step, StepStatus::DependencySkipped, OnSkip::SkipCascade);
            return Ok(());
        }
        if !self.is_wanted(step) {
            if step.when_unmet == OnSkip::Fail {
                return Err(RunError::Condition { step: step.slug });
            }
            self.skip(step, StepStatus::ConditionUnmet, step.when_unmet);
            return Ok(());
        }
        self.tasks(step).await
    }

    async fn tasks(&mut self, step: &'static StepDef) -> Result<(), RunError> {
        let mut attempts = 0;
        let mut outputs = Vec::new();
        for task in self.tasks_of(step)? {
            match self.attempts(step, &task, &mut attempts).await {
                Ok(output) => outputs.push(output),
                Err(failed) if step.when_exhausted == OnSkip::Fail => {
                    let (step, attempt) = (step.slug, failed.attempt);
                    return Err(RunError::Step {
                        step,
                        attempt,
                        source: failed.error.into_source(),
                    });
                }
                Err(_) => {
                    self.skip(step, StepStatus::Exhausted { attempts }, step.when_exhausted);
                    return Ok(());
                }
            }
        }
        let output = match step.kind {
            StepKind::Single => outputs.pop().unwrap_or_default(),
            StepKind::Map => Value::Array(outputs),
        };
        self.outputs.insert(step.slug, Arc::new(output));
        self.steps.insert(step.slug, StepStatus::Completed { attempts });
        Ok(())
    }

    async fn attempts(
        &self,
        step: &StepDef,
        task: &Task,
        attempts: &mut u32,
    ) -> Result<Value, Exhausted> {
        let options = step.options.or(self.flow.options);
        let most = options.max_attempts.unwrap_or(StepOptions::DEFAULT_MAX_ATTEMPTS);
        for attempt in 1.. {
            *attempts += 1;
            let error = match task.at_attempt(attempt).run(step).await {
                Ok(output) => return Ok(output),
                Err(error) => error,
            };
            if attempt >= most || error.retry().is_final() {
                return Err(Exhausted { attempt, error });
            }
        }
        unreachable!("there is always one more number")
    }

    /// The tasks a step makes: one, or one per element.
    fn tasks_of(&self, step: &'static StepDef) -> Result<Vec<Task>, RunError> {
        let context = Context::new(self.id.clone(), self.flow.slug, step.slug);
        let mut task = Task::new(context.clone())
            .with_run(self.input.clone())
            .with_states(self.states.clone());
        for &dep in step.depends_on {
            if let Some(output) = self.outputs.get(dep) {
                task = task.with_output(dep, output.clone());
            }
        }
        if step.kind == StepKind::Single {
            return Ok(vec![task]);
        }
        let items = self.items(step)?.into_iter().enumerate();
        Ok(items.map(|(at, item)| task.clone().with_item(item).at_index(at)).collect())
    }

    /// What a map step maps over; nothing, if that step was skipped.
    fn items(&self, step: &StepDef) -> Result<Vec<Value>, RunError> {
        let (whole, what) = match step.depends_on.first() {
            None => (Some(&self.input), "the run's input".to_owned()),
            Some(dep) => (self.outputs.get(dep), format!("the output of step `{dep}`")),
        };
        match whole.map(|whole| &**whole) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items.clone()),
            Some(_) => Err(DataError::NotAnArray { step: step.slug.to_owned(), what }.into()),
        }
    }

    fn is_wanted(&self, step: &StepDef) -> bool {
        if step.only_if.is_none() && step.unless.is_none() {
            return true;
        }
        let tested = self.tested(step);
        let is_in = |text: Option<&str>| {
            text.and_then(|text| text.parse::<Pattern>().ok()).map(|pattern| pattern.is_in(&tested))
        };
        is_in(step.only_if) != Some(false) && is_in(step.unless) != Some(true)
    }

    /// What conditions are tested on: the run's input, or the outputs of the dependencies.
    fn tested(&self, step: &StepDef) -> Value {
        if step.depends_on.is_empty() {
            return Value::clone(&self.input);
        }
        let outputs = step.depends_on.iter().filter_map(|dep| {
            self.outputs.get(dep).map(|output| ((*dep).to_owned(), Value::clone(output)))
        });
        Value::Object(outputs.collect::<Map<_, _>>())
    }

    fn skip(&mut self, step: &StepDef, status: StepStatus, mode: OnSkip) {
        self.steps.insert(step.slug, status);
        if mode == OnSkip::SkipCascade {
            self.cascades.insert(step.slug);
        }
    }
}
