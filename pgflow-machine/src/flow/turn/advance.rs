//! As far as a run goes without a worker: conditions, steps without tasks, ready steps, the end.

use std::sync::Arc;
use std::time::Duration;

use pgflow_model::{OnSkip, Pattern};
use serde_json::Value;

use super::{NotLoaded, Turn};
use crate::{Effect, Entry, InputSource, Output, RunStatus, SkipReason, StepStatus};

impl Turn<'_> {
    pub(super) fn advance(&mut self) -> Result<(), NotLoaded> {
        if self.run.status.has_ended() {
            return Ok(());
        }
        loop {
            if !self.resolve_conditions()? {
                return Ok(());
            }
            // Steps completed here may have made others ready, whose conditions are still to be seen.
            if !self.complete_taskless()? {
                break;
            }
        }
        self.start_ready();
        self.complete_run();
        Ok(())
    }

    /// Skips or fails ready steps whose conditions do not hold, until there are none. Returns whether the
    /// run lives.
    fn resolve_conditions(&mut self) -> Result<bool, NotLoaded> {
        loop {
            let unmet = self.unmet()?;
            let plan = self.plan;
            let with = |mode| {
                let is_so = move |step: &usize| plan.step(*step).when_unmet == mode;
                unmet.iter().copied().filter(is_so)
            };
            let skips: Vec<_> = with(OnSkip::Skip).collect();
            if let Some(step) = with(OnSkip::Fail).next() {
                self.fail(step, "Condition not met");
                return Ok(false);
            }
            self.skip_all(&skips, SkipReason::ConditionUnmet, None);
            for &step in &skips {
                self.release_dependents(step, Some(0));
            }
            for step in with(OnSkip::SkipCascade) {
                self.skip_with_dependents(step, SkipReason::ConditionUnmet);
            }
            if skips.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Ready steps whose condition does not hold.
    fn unmet(&self) -> Result<Vec<usize>, NotLoaded> {
        let mut unmet = Vec::new();
        for step in self.ready() {
            if self.plan.step(step).has_condition() && !self.is_met(step)? {
                unmet.push(step);
            }
        }
        Ok(unmet)
    }

    fn is_met(&self, step: usize) -> Result<bool, NotLoaded> {
        let plan = self.plan.step(step);
        let required = plan.only_if.as_ref().map_or(Ok(true), |it| self.contains(step, it))?;
        let forbidden = plan.unless.as_ref().map_or(Ok(false), |it| self.contains(step, it))?;
        Ok(required && !forbidden)
    }

    /// Whether what a step would be started with contains a pattern: the run's input for a first step,
    /// otherwise the outputs of its completed dependencies by slug.
    fn contains(&self, step: usize, pattern: &Pattern) -> Result<bool, NotLoaded> {
        let deps = &self.plan.step(step).deps;
        if deps.is_empty() {
            let input = self.run.input.as_ref().ok_or(NotLoaded { step })?;
            return Ok(pattern.is_in(input));
        }
        let mut fields: Vec<(&str, &Value)> = Vec::with_capacity(deps.len());
        for &dep in deps {
            let state = &self.run.steps[dep];
            if state.status == StepStatus::Completed {
                let value = state.output.value().ok_or(NotLoaded { step: dep })?;
                fields.push((&self.plan.step(dep).slug, value));
            }
        }
        let field =
            |key: &str| fields.iter().find(|(slug, _)| *slug == key).map(|(_, value)| *value);
        Ok(pattern.is_in_fields(field))
    }

    /// Completes ready steps that have no tasks, wave after wave. Returns whether there were any.
    fn complete_taskless(&mut self) -> Result<bool, NotLoaded> {
        let mut any = false;
        loop {
            let mut wave = Vec::new();
            for step in self.ready() {
                if self.run.steps[step].initial_tasks == Some(0) && self.is_met(step)? {
                    wave.push(step);
                }
            }
            if wave.is_empty() {
                return Ok(any);
            }
            any = true;
            let nothing = Arc::new(Value::Array(Vec::new()));
            for &step in &wave {
                self.set_completed(step, Output::Loaded(Arc::clone(&nothing)));
            }
            for &step in &wave {
                self.release_dependents(step, Some(0));
            }
        }
    }

    fn start_ready(&mut self) {
        let steps: Vec<_> = self.ready().collect();
        for &step in &steps {
            let state = self.step_mut(step);
            let tasks = state.initial_tasks.unwrap_or(0);
            state.status = StepStatus::Started;
            state.remaining_tasks = Some(tasks);
            self.log(Entry::StepStarted { step, tasks });
        }
        self.spawn(steps);
    }

    /// Queues tasks: the least delayed first, single steps before maps.
    fn spawn(&mut self, mut steps: Vec<usize>) {
        let plan = self.plan;
        steps.sort_by_key(|step| (plan.step(*step).start_delay, plan.step(*step).is_map));
        for step in steps {
            let planned = plan.step(step);
            let from = match (planned.is_map, planned.deps.first()) {
                (false, _) => InputSource::Run,
                (true, None) => InputSource::InputElements,
                (true, Some(&dep)) => InputSource::OutputElements(dep),
            };
            let tasks = self.run.steps[step].initial_tasks.unwrap_or(0);
            let delay = Duration::from_secs(planned.start_delay.into());
            self.change.effects.push(Effect::Spawn { step, tasks, from, delay });
        }
    }

    fn complete_run(&mut self) {
        if self.run.remaining_steps > 0 {
            return;
        }
        let is_output = |step: &usize| {
            self.run.steps[*step].status == StepStatus::Completed
                && self.plan.step(*step).dependents.is_empty()
        };
        let leaves = (0..self.run.steps.len()).filter(is_output).collect();
        self.change.effects.push(Effect::Output { leaves });
        self.set_run(RunStatus::Completed);
        self.log(Entry::RunCompleted);
    }

    fn ready(&self) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.run.steps.len()).filter(|step| self.run.steps[*step].is_ready())
    }
}
