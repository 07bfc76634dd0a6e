//! What is kept of a run.

use std::collections::HashMap;
use std::sync::Arc;

use pgflow_machine::{
    Entry, Gather, Output, Payload, Plan, RunState, StepState, TaskRow, TaskStatus, Ties,
    Timestamp, Version, WorkerId, payload_bytes,
};
use serde_json::{Map, Value};

#[derive(Debug)]
pub(super) struct Run {
    pub(super) version: Arc<Version>,
    /// Without payloads.
    pub(super) state: RunState,
    pub(super) steps: Vec<StepData>,
    pub(super) log: Vec<(Timestamp, Entry)>,
    pub(super) input: Value,
    pub(super) output: Option<Value>,
    pub(super) started_at: Timestamp,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) cancel_reason: Option<String>,
    pub(super) ties: Ties,
}

/// What is kept of a step besides its state.
#[derive(Debug, Default)]
pub(super) struct StepData {
    pub(super) started_at: Option<Timestamp>,
    pub(super) output: Option<Value>,
    /// By index; empty until it starts.
    pub(super) tasks: Vec<Task>,
}

#[derive(Debug)]
pub(super) struct Task {
    pub(super) row: TaskRow,
    /// Its place in the queue among those that are ready at the same moment.
    pub(super) ticket: u64,
    /// Who has it and since when, while it is started.
    pub(super) held: Option<(WorkerId, Timestamp)>,
    /// What its last attempt failed with.
    pub(super) error: Option<String>,
    /// The last attempt that was yielded, and why.
    pub(super) yielded: Option<(u32, String)>,
    /// Until its step takes it over.
    pub(super) output: Option<Value>,
}

impl Task {
    /// Why it waits, if its last attempt was yielded.
    pub(super) fn yielded(&self) -> Option<&String> {
        let (attempt, reason) = self.yielded.as_ref()?;
        let is_last = self.row.status == TaskStatus::Queued && self.row.attempts == *attempt;
        is_last.then_some(reason)
    }
}

impl Run {
    pub(super) fn plan(&self) -> &Plan {
        &self.version.plan
    }

    pub(super) fn task(&self, step: usize, index: u32) -> Option<&Task> {
        self.steps[step].tasks.get(usize::try_from(index).ok()?)
    }

    pub(super) fn task_mut(&mut self, step: usize, index: u32) -> Option<&mut Task> {
        self.steps[step].tasks.get_mut(usize::try_from(index).ok()?)
    }

    /// Takes over what a step is now; its output is put together from those of its tasks.
    pub(super) fn set_step(&mut self, step: usize, state: &StepState, now: Timestamp) {
        let (data, gather) = (&mut self.steps[step], state.gathers(self.version.plan.step(step)));
        data.output = gather.map(|gather| match gather {
            Gather::Nothing => Value::Array(Vec::new()),
            Gather::Task => data.take_outputs().next().unwrap_or_default(),
            Gather::Tasks => data.take_outputs().collect(),
        });
        if state.remaining_tasks.is_some() {
            data.started_at.get_or_insert(now);
        }
        let output = if data.output.is_some() { Output::Stored } else { Output::None };
        self.state.steps[step] = StepState { output, ..state.clone() };
    }

    /// What a task of a map works on.
    pub(super) fn element(&self, step: usize, index: u32) -> Option<&Value> {
        let planned = self.plan().step(step);
        let dep = planned.deps.first();
        let array = dep.map_or(Some(&self.input), |dep| self.steps[*dep].output.as_ref());
        array.filter(|_| planned.is_map)?.get(usize::try_from(index).ok()?)
    }

    /// How many bytes a task works on.
    pub(super) fn input_bytes(&self, step: usize, index: u32) -> usize {
        let planned = self.plan().step(step);
        if planned.is_map {
            return self.element(step, index).map_or(0, payload_bytes);
        }
        let outputs = planned.deps.iter().filter_map(|dep| self.steps[*dep].output.as_ref());
        payload_bytes(&self.input) + outputs.map(payload_bytes).sum::<usize>()
    }

    pub(super) fn payload(&self, payload: Payload) -> Option<&Value> {
        match payload {
            Payload::RunInput => Some(&self.input),
            Payload::RunOutput => self.output.as_ref(),
            Payload::StepOutput(step) => self.steps.get(step)?.output.as_ref(),
        }
    }

    /// How many bytes its payloads have.
    pub(super) fn weights(&self) -> HashMap<Payload, usize> {
        let steps = (0..self.steps.len()).map(Payload::StepOutput);
        let all = [Payload::RunInput, Payload::RunOutput].into_iter().chain(steps);
        all.filter_map(|payload| Some((payload, payload_bytes(self.payload(payload)?)))).collect()
    }

    /// The run's output, from these completed steps.
    pub(super) fn put_out(&mut self, leaves: &[usize]) {
        let output = |step: &usize| {
            let output = self.steps[*step].output.clone();
            (self.plan().step(*step).slug.to_string(), output.unwrap_or_default())
        };
        let outputs: Map<_, _> = leaves.iter().map(output).collect();
        self.output = (!leaves.is_empty()).then_some(Value::Object(outputs));
    }
}

impl StepData {
    /// How many bytes it has put out, or its tasks so far.
    pub(super) fn weight(&self) -> usize {
        let outputs = self.tasks.iter().filter_map(|task| task.output.as_ref());
        self.output.iter().chain(outputs).map(payload_bytes).sum()
    }

    fn take_outputs(&mut self) -> impl Iterator<Item = Value> {
        self.tasks.iter_mut().map(|task| task.output.take().unwrap_or_default())
    }
}
