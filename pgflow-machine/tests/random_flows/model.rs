//! A database of one run, as small as can be.

use std::sync::Arc;

use pgflow_machine::{
    Change, Effect, Entry, Finished, Limits, NotLoaded, Output, Plan, RunState, RunStatus,
    StepStatus, Turn, Violation, elements,
};
use serde_json::Value;

use crate::flows;
use crate::invariants;
use crate::numbers::Numbers;

pub(crate) struct Model {
    pub(crate) seed: u64,
    pub(crate) plan: Plan,
    pub(crate) run: RunState,
    /// Open tasks of each step.
    pub(crate) open: Vec<u32>,
    /// What the database would have; the run's state has them only where they are wanted.
    outputs: Vec<Option<Arc<Value>>>,
    input: Arc<Value>,
    pub(crate) log: Vec<Entry>,
    retries: u32,
}

impl Model {
    /// Nothing if the flow does not take the input.
    pub(crate) fn start(numbers: &mut Numbers, seed: u64) -> Option<Self> {
        let plan = Plan::new(&flows::flow(numbers)).expect("a flow");
        let input = Arc::new(flows::value(numbers));
        let (run, change) = Turn::start(&plan, Arc::clone(&input), &Limits::default()).ok()?;
        let steps = plan.steps().len();
        let (open, outputs) = (vec![0; steps], vec![None; steps]);
        let mut model = Self { seed, plan, run, open, outputs, input, log: Vec::new(), retries: 0 };
        model.write(change);
        invariants::check(&model);
        Some(model)
    }

    /// One random command.
    pub(crate) fn step(&mut self, numbers: &mut Numbers) {
        match numbers.below(40) {
            0 => self.turn(|turn| Ok(turn.cancel(Some("enough")))),
            1..=4 => self.exhaust(numbers),
            5..=8 => self.retry(),
            _ => self.complete(numbers),
        }
    }

    /// Lets the run end.
    pub(crate) fn drain(&mut self, numbers: &mut Numbers) {
        for _ in 0..1000 {
            if self.run.status.has_ended() {
                return;
            }
            self.complete(numbers);
        }
        panic!("seed {}: the run does not end: {:?}", self.seed, self.run);
    }

    fn started(&self) -> Vec<usize> {
        let is_started = |step: &usize| self.run.steps[*step].status == StepStatus::Started;
        (0..self.open.len()).filter(is_started).collect()
    }

    fn exhaust(&mut self, numbers: &mut Numbers) {
        let Some(&step) = numbers.pick(&self.started()) else { return };
        self.load(&[step]);
        self.turn(|turn| turn.exhaust(step, "no luck").map(|()| true));
    }

    fn retry(&mut self) {
        if self.run.status == RunStatus::Failed && self.retries < 3 {
            self.retries += 1;
            self.load(&[]);
            #[expect(clippy::redundant_closure_for_method_calls, reason = "not general enough")]
            self.turn(|turn| turn.retry());
        }
    }

    /// Completes a batch of tasks of any steps.
    fn complete(&mut self, numbers: &mut Numbers) {
        if self.run.status.has_ended() {
            return;
        }
        let steps: Vec<_> = self.started().into_iter().filter(|_| !numbers.once_in(3)).collect();
        let mut done = Vec::new();
        for step in steps {
            let tasks = 1 + u32::try_from(numbers.below(self.open[step] as usize)).expect("few");
            let output = self.output(step, numbers);
            if let Some(violation) = Violation::of(&self.plan, &self.run, step, &output) {
                self.finish(done);
                return self.violate(&violation);
            }
            if self.count_down(step, tasks) {
                done.push((step, output));
            }
        }
        self.finish(done);
    }

    fn count_down(&mut self, step: usize, tasks: u32) -> bool {
        self.open[step] -= tasks;
        let before = self.log.len();
        let mut is_done = false;
        self.turn_unchecked(|turn| {
            is_done = turn.count_down(step, tasks);
            Ok(true)
        });
        assert_eq!(self.log.len(), before, "counting is not an event");
        is_done
    }

    fn violate(&mut self, violation: &Violation) {
        self.turn(|turn| {
            turn.violate(violation);
            Ok(true)
        });
    }

    fn output(&mut self, step: usize, numbers: &mut Numbers) -> Value {
        let planned = self.plan.step(step);
        let is_map = planned.is_map || planned.feeds_map && !numbers.once_in(10);
        if is_map { flows::array(numbers) } else { flows::value(numbers) }
    }

    fn finish(&mut self, done: Vec<(usize, Value)>) {
        let ending: Vec<_> = done.iter().map(|(step, _)| *step).collect();
        let wanted = self.load(&ending);
        let finished = |(step, output): (usize, Value)| {
            let elements = elements(&self.plan, step, &output, &Limits::default()).expect("few");
            let output = Arc::new(output);
            self.outputs[step] = Some(Arc::clone(&output));
            let is_wanted = wanted.contains(&step);
            let output = if is_wanted { Output::Loaded(output) } else { Output::Stored };
            Finished { step, output, elements }
        };
        let finished: Vec<_> = done.into_iter().map(finished).collect();
        self.turn(|turn| turn.finish(&finished).map(|()| true));
    }

    /// Loads what the transition says it wants, and nothing else.
    fn load(&mut self, ending: &[usize]) -> Vec<usize> {
        let wants_input = self.run.wants_input(&self.plan);
        self.run.input = wants_input.then(|| Arc::clone(&self.input));
        for (state, output) in self.run.steps.iter_mut().zip(&self.outputs) {
            let is_there = state.status == StepStatus::Completed && output.is_some();
            state.output = if is_there { Output::Stored } else { Output::None };
        }
        let wanted = Turn::wanted(&self.plan, &self.run, ending);
        for &step in &wanted {
            if let Some(output) = &self.outputs[step] {
                self.run.steps[step].output = Output::Loaded(Arc::clone(output));
            }
        }
        wanted
    }

    fn turn(&mut self, act: impl FnOnce(&mut Turn<'_>) -> Result<bool, NotLoaded>) {
        self.turn_unchecked(act);
        invariants::check(self);
    }

    fn turn_unchecked(&mut self, act: impl FnOnce(&mut Turn<'_>) -> Result<bool, NotLoaded>) {
        let before = self.run.clone();
        let mut turn = Turn::new(&self.plan, &mut self.run);
        let result = act(&mut turn);
        let change = turn.end();
        result.unwrap_or_else(|error| panic!("seed {}: {error}", self.seed));
        invariants::check_change(self.seed, &before, &self.run, &change);
        self.write(change);
    }

    fn write(&mut self, change: Change) {
        for effect in change.effects {
            if let Effect::Spawn { step, tasks, .. } = effect {
                assert_eq!(self.open[step], 0, "seed {}: step {step} starts twice", self.seed);
                self.open[step] = tasks;
            }
        }
        for (state, output) in self.run.steps.iter().zip(&mut self.outputs) {
            // Steps without tasks put out what nobody gave.
            if let Some(value) = state.output.value() {
                *output = Some(Arc::clone(value));
            }
        }
        self.log.extend(change.log);
    }
}
