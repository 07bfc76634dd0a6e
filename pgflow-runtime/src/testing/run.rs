//! A run under way: the machine says what follows, and steps are called one after another.

use std::collections::HashMap;
use std::sync::Arc;

use pgflow_machine::{
    Finished, Limits, NotLoaded, Output, Plan, Retry, RunState, RunStatus, SkipReason, StartError,
    StepStatus as Status, Turn, Violation, elements, retry_delay,
};
use pgflow_model::StepKind;
use serde_json::Value;

use super::runner::Given;
use super::waits::awaited;
use super::{FinishedRun, RunError, StepStatus};
use crate::task::StepEnd;
use crate::{Context, DataError, Error, FlowDef, HookToken, RunOutputs, StepDef, Task, Waits};

/// A test has no database whose limits would count.
const LIMITS: Limits =
    Limits { max_bytes: usize::MAX, max_depth: usize::MAX, max_fanout: usize::MAX };

pub(super) struct TestRun {
    flow: &'static FlowDef,
    plan: Plan,
    state: RunState,
    id: Arc<str>,
    input: Arc<Value>,
    given: Given,
    /// Calls of each step's function.
    attempts: HashMap<&'static str, u32>,
}

/// A task that has no output.
enum Stopped {
    /// It has no attempts left.
    Exhausted { attempt: u32, error: Error },
    /// The test cannot go on.
    Run(RunError),
}

impl TestRun {
    pub(super) fn start(
        flow: &'static FlowDef,
        input: Value,
        given: Given,
    ) -> Result<Self, RunError> {
        // What the macro accepts is a graph.
        let plan = Plan::new(&flow.shape()).expect("a flow's steps depend on each other in order");
        let input = Arc::new(input);
        let (state, _) =
            Turn::start(&plan, Arc::clone(&input), &LIMITS).map_err(|why| refusal(flow, &why))?;
        let (id, attempts) = (Arc::from("test"), HashMap::new());
        Ok(Self { flow, plan, state, id, input, given, attempts })
    }

    /// Calls steps until none is left.
    async fn drive(&mut self) -> Result<(), RunError> {
        self.expect_no_unmet()?;
        while let Some((step, at)) = self.next() {
            self.tasks(step, at).await?;
            self.expect_no_unmet()?;
        }
        Ok(())
    }

    /// What it puts out, for a step of another run that waits for it.
    pub(super) async fn child(
        flow: &'static FlowDef,
        input: Value,
        given: Given,
    ) -> Result<Value, RunError> {
        let mut run = Self::start(flow, input, given)?;
        run.drive().await?;
        let is_leaf = |step: &&StepDef| run.plan.step(run.at(step)).dependents.is_empty();
        let output =
            |step: &StepDef| Some((step.slug.to_owned(), (*run.output(step.slug)?).clone()));
        Ok(Value::Object(flow.steps.iter().filter(is_leaf).filter_map(output).collect()))
    }

    /// Runs it to its end.
    pub(super) async fn finish<F>(mut self) -> Result<FinishedRun<F>, RunError> {
        self.drive().await?;
        let output = |step: &StepDef| Some((step.slug, self.output(step.slug)?));
        let outputs = self.flow.steps.iter().filter_map(output);
        let outputs = RunOutputs::new(outputs);
        let steps = self.flow.steps.iter().map(|step| (step.slug, self.status(step))).collect();
        Ok(FinishedRun { outputs, steps })
    }

    /// The first step that has tasks.
    fn next(&self) -> Option<(&'static StepDef, usize)> {
        let mut steps = self.flow.steps.iter().map(|step| (step, self.at(step)));
        steps.find(|(_, at)| self.state.steps[*at].status == Status::Started)
    }

    fn at(&self, step: &StepDef) -> usize {
        self.plan.index(step.slug).expect("the plan has all steps")
    }

    async fn tasks(&mut self, step: &'static StepDef, at: usize) -> Result<(), RunError> {
        let mut outputs = Vec::new();
        for task in self.tasks_of(step) {
            match self.attempt(step, at, &task).await {
                Ok(output) => outputs.push(output),
                Err(Stopped::Run(error)) => return Err(error),
                Err(Stopped::Exhausted { attempt, error }) => {
                    return self.exhaust(step, at, attempt, error);
                }
            }
        }
        let tasks = u32::try_from(outputs.len()).unwrap_or(u32::MAX);
        let output = match step.kind {
            StepKind::Single => outputs.pop().unwrap_or_default(),
            StepKind::Map => Value::Array(outputs),
        };
        self.complete(at, tasks, output)
    }

    fn complete(&mut self, at: usize, tasks: u32, output: Value) -> Result<(), RunError> {
        if let Some(violation) = Violation::of(&self.plan, &self.state, at, &output) {
            let slug = |step: usize| self.plan.step(step).slug.to_string();
            let what = format!("the output of step `{}`", slug(violation.step));
            return Err(DataError::NotAnArray { step: slug(violation.map), what }.into());
        }
        let elements = elements(&self.plan, at, &output, &LIMITS).unwrap_or_default();
        let output = Output::Loaded(Arc::new(output));
        let mut turn = Turn::new(&self.plan, &mut self.state);
        turn.count_down(at, tasks);
        loaded(turn.finish(&[Finished { step: at, output, elements }]));
        Ok(())
    }

    fn exhaust(
        &mut self,
        step: &StepDef,
        at: usize,
        attempt: u32,
        error: Error,
    ) -> Result<(), RunError> {
        loaded(Turn::new(&self.plan, &mut self.state).exhaust(at, &error.to_string()));
        if self.state.steps[at].status == Status::Failed {
            return Err(RunError::Step { step: step.slug, attempt, source: error.into_source() });
        }
        Ok(())
    }

    /// Calls a step for a task, until it succeeds or has no attempts left.
    async fn attempt(
        &mut self,
        step: &'static StepDef,
        at: usize,
        task: &Task,
    ) -> Result<Value, Stopped> {
        let mut attempt = 1;
        loop {
            *self.attempts.entry(step.slug).or_default() += 1;
            let ended = match task.at_attempt(attempt).end(step).await {
                Ok(StepEnd::Output(output)) => Ok(output),
                Ok(StepEnd::Waits(wait)) => {
                    let (flow, given) = (self.flow, &self.given);
                    awaited(flow, step, *wait, given).await.map_err(Stopped::Run)?
                }
                Err(error) => Err(error),
            };
            let error = match ended {
                Ok(output) => return Ok(output),
                Err(error) => error,
            };
            let retry = if error.retry().is_final() { Retry::Never } else { Retry::ByPolicy };
            if retry_delay(self.plan.step(at), attempt, retry).is_none() {
                return Err(Stopped::Exhausted { attempt, error });
            }
            attempt += 1;
        }
    }

    /// The tasks a step makes: one, or one per element.
    fn tasks_of(&self, step: &'static StepDef) -> Vec<Task> {
        let context = Context::new(self.id.clone(), self.flow.slug, step.slug);
        let mut task =
            Task::new(context).with_run(self.input.clone()).with_states(self.given.states.clone());
        for &dep in step.depends_on {
            if let Some(output) = self.output(dep) {
                task = task.with_output(dep, output);
            }
        }
        if step.kind == StepKind::Single {
            return vec![hooked(task, step)];
        }
        let whole = match step.depends_on.first() {
            None => Some(Arc::clone(&self.input)),
            Some(dep) => self.output(dep),
        };
        let items = whole.as_deref().and_then(Value::as_array).cloned().unwrap_or_default();
        let items = items.into_iter().enumerate();
        let of = |(index, item)| hooked(task.clone().with_item(item).at_index(index), step);
        items.map(of).collect()
    }

    /// What a step has put out.
    fn output(&self, slug: &str) -> Option<Arc<Value>> {
        let at = self.plan.index(slug)?;
        self.state.steps[at].output.value().map(Arc::clone)
    }

    fn status(&self, step: &StepDef) -> StepStatus {
        let attempts = self.attempts.get(step.slug).copied().unwrap_or(0);
        match self.state.steps[self.at(step)].skip_reason {
            None => StepStatus::Completed { attempts },
            Some(SkipReason::ConditionUnmet) => StepStatus::ConditionUnmet,
            Some(SkipReason::HandlerFailed) => StepStatus::Exhausted { attempts },
            Some(SkipReason::DependencySkipped) => StepStatus::DependencySkipped,
        }
    }

    /// The run has not failed because of a condition.
    fn expect_no_unmet(&self) -> Result<(), RunError> {
        if self.state.status != RunStatus::Failed {
            return Ok(());
        }
        let failed = self
            .flow
            .steps
            .iter()
            .find(|step| self.state.steps[self.at(step)].status == Status::Failed);
        failed.map_or(Ok(()), |step| Err(RunError::Condition { step: step.slug }))
    }
}

/// With a token, if it takes a hook.
fn hooked(task: Task, step: &StepDef) -> Task {
    match step.waits {
        Some(Waits { takes_hook: true }) => task.with_hook(HookToken::new()),
        _ => task,
    }
}

/// All outputs stay in memory.
fn loaded(done: Result<(), NotLoaded>) {
    done.expect("outputs of a test are always there");
}

fn refusal(flow: &FlowDef, why: &StartError) -> RunError {
    let is_root_map = |step: &&StepDef| step.kind == StepKind::Map && step.depends_on.is_empty();
    match (why, flow.steps.iter().find(is_root_map)) {
        (StartError::NotAnArray { .. }, Some(map)) => {
            let (step, what) = (map.slug.to_owned(), "the run's input".to_owned());
            DataError::NotAnArray { step, what }.into()
        }
        _ => unreachable!("there is no limit, and the input is there"),
    }
}
