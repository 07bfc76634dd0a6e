//! What is kept of a run.

use std::sync::Arc;

use pgflow_machine::{
    Entry, Output, Payload, Plan, RunState, Standing, StepStatus, TaskStatus, Timestamp, WorkerId,
};
use serde_json::{Map, Value};

use super::flows::Version;

#[derive(Debug)]
pub(super) struct Run {
    pub(super) version: Arc<Version>,
    pub(super) state: RunState,
    /// By step and index; empty until a step starts.
    pub(super) tasks: Vec<Vec<Task>>,
    pub(super) log: Vec<(Timestamp, Entry)>,
    pub(super) input: Arc<Value>,
    pub(super) output: Option<Value>,
    pub(super) started_at: Timestamp,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) cancel_reason: Option<String>,
}

#[derive(Debug)]
pub(super) struct Task {
    pub(super) status: TaskStatus,
    /// How often it was claimed.
    pub(super) attempts: u32,
    /// How many of those do not count.
    pub(super) refunded: u32,
    /// How often it was lost.
    pub(super) requeued: u32,
    /// Whether its step ended because it was lost too often.
    pub(super) is_stalled: bool,
    /// Where it is in the queue, if it is queued: entries with another ticket are of the past.
    pub(super) ticket: u64,
    pub(super) queued_at: Timestamp,
    pub(super) held: Option<Held>,
    /// Until its step takes it over.
    pub(super) output: Option<Value>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) worker: WorkerId,
    pub(super) started_at: Timestamp,
    pub(super) lost_after: Timestamp,
}

impl Task {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            status: TaskStatus::Queued,
            attempts: 0,
            refunded: 0,
            requeued: 0,
            is_stalled: false,
            ticket: 0,
            queued_at: now,
            held: None,
            output: None,
        }
    }

    /// Attempts that count towards the step's limit.
    pub(super) fn counted(&self) -> u32 {
        self.attempts - self.refunded
    }
}

impl Run {
    pub(super) fn plan(&self) -> &Plan {
        &self.version.plan
    }

    pub(super) fn task(&self, step: usize, index: u32) -> Option<&Task> {
        self.tasks[step].get(usize::try_from(index).ok()?)
    }

    pub(super) fn task_mut(&mut self, step: usize, index: u32) -> Option<&mut Task> {
        self.tasks[step].get_mut(usize::try_from(index).ok()?)
    }

    pub(super) fn standing(&self, step: usize, index: u32) -> Option<Standing> {
        let task = self.task(step, index)?;
        Some(Standing {
            run: self.state.status,
            step: self.state.steps[step].status,
            task: task.status,
            attempts: task.attempts,
        })
    }

    /// What a step whose tasks are all completed outputs.
    pub(super) fn take_output(&mut self, step: usize) -> Value {
        let is_map = self.plan().step(step).is_map;
        let mut outputs: Vec<_> = self.tasks[step]
            .iter_mut()
            .map(|task| task.output.take().unwrap_or_default())
            .collect();
        if is_map { Value::Array(outputs) } else { outputs.pop().unwrap_or_default() }
    }

    /// What a task works on.
    pub(super) fn task_input(&self, step: usize, index: u32) -> Value {
        let planned = self.plan().step(step);
        if !planned.is_map {
            return self.single_input(step);
        }
        let array = planned.deps.first().map_or(&*self.input, |dep| self.output_of(*dep));
        usize::try_from(index).ok().and_then(|index| array.get(index)).cloned().unwrap_or_default()
    }

    fn single_input(&self, step: usize) -> Value {
        let mut input = Map::new();
        input.insert("run".to_owned(), Value::clone(&self.input));
        for &dep in &self.plan().step(step).deps {
            if self.state.steps[dep].status == StepStatus::Completed {
                input.insert(self.plan().step(dep).slug.to_string(), self.output_of(dep).clone());
            }
        }
        Value::Object(input)
    }

    pub(super) fn output_of(&self, step: usize) -> &Value {
        self.state.steps[step].output.value().map_or(&Value::Null, |output| output)
    }

    pub(super) fn payload(&self, payload: Payload) -> Value {
        match payload {
            Payload::RunInput => Value::clone(&self.input),
            Payload::RunOutput => self.output.clone().unwrap_or_default(),
            Payload::StepOutput(step) => self.output_of(step).clone(),
        }
    }

    /// The run's output, from these completed steps.
    pub(super) fn put_out(&mut self, leaves: &[usize]) {
        let output = |step: &usize| {
            (self.plan().step(*step).slug.to_string(), self.output_of(*step).clone())
        };
        let outputs: Map<_, _> = leaves.iter().map(output).collect();
        self.output = (!leaves.is_empty()).then_some(Value::Object(outputs));
    }
}

/// A value that stays in memory anyway.
pub(super) fn loaded(value: Value) -> Output {
    Output::Loaded(Arc::new(value))
}
