//! Runs, from the outside.

use std::ops::Bound;

use pgflow_machine::{RunId, TaskStatus, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use super::data::Data;
use super::run::{Run, Task};
use crate::backend::narrow::page;
use crate::backend::{Parts, RunQuery, RunRecord, RunSummary, StepRecord, StepWork, TaskWork};
use crate::store::Logged;

impl Data {
    pub(super) fn record(&self, id: RunId, parts: Parts) -> Option<RunRecord> {
        let run = self.runs.get(&id)?;
        let steps = if parts == Parts::Run { 0..0 } else { 0..run.state.steps.len() };
        let has_payloads = parts != Parts::Steps;
        Some(RunRecord {
            id,
            flow: run.plan().slug().to_string(),
            status: run.state.status,
            input: has_payloads.then(|| run.input.clone()),
            output: run.output.clone().filter(|_| has_payloads),
            remaining_steps: run.state.remaining_steps,
            started_at: run.started_at,
            ended_at: run.ended_at,
            cancel_reason: run.cancel_reason.clone(),
            steps: steps.map(|step| step_record(run, step, parts == Parts::Outputs)).collect(),
        })
    }

    pub(super) fn list(&self, query: &RunQuery) -> Vec<RunSummary> {
        let end = query.after.map_or(Bound::Unbounded, Bound::Excluded);
        let since = (query.since.unwrap_or(Timestamp::from_micros(i64::MIN)), RunId(Uuid::nil()));
        let newest_first = self.by_start.range((Bound::Included(since), end)).rev();
        let found = newest_first.filter_map(|(_, id)| Some((*id, self.runs.get(id)?)));
        let is_asked = |(_, run): &(RunId, &Run)| {
            (query.flows.is_empty() || query.flows.contains(&run.version.flow))
                && (query.statuses.is_empty() || query.statuses.contains(&run.state.status))
        };
        found.filter(is_asked).take(query.max as usize).map(|(id, run)| summary(id, run)).collect()
    }

    pub(super) fn statuses(&self, runs: &[RunId]) -> Vec<RunSummary> {
        let found = runs.iter().filter_map(|id| Some((*id, self.runs.get(id)?)));
        found.map(|(id, run)| summary(id, run)).collect()
    }

    pub(super) fn log(&self, id: RunId, after: u64, max: u32) -> Option<Logged> {
        let run = self.runs.get(&id)?;
        let seen = usize::try_from(after).unwrap_or(usize::MAX).min(run.log.len());
        let new = run.log[seen..].iter().take(max as usize);
        let numbers = after.saturating_add(1)..;
        let entries =
            numbers.zip(new).map(|(seq, (at, entry))| (seq, *at, entry.clone())).collect();
        Some(Logged { version: run.version.clone(), entries })
    }

    pub(super) fn outputs(&self, id: RunId, step: &str, first: u32, bytes: u32) -> Vec<Value> {
        let run = self.runs.get(&id);
        let found = run.and_then(|run| Some((run, run.plan().index(step)?)));
        let Some((run, step)) = found else { return Vec::new() };
        let output = run.steps[step].output.as_ref();
        let outputs = match output {
            Some(Value::Array(elements)) if run.plan().step(step).is_map => &elements[..],
            output => output.map_or(&[][..], std::slice::from_ref),
        };
        page(outputs.iter().skip(first as usize).cloned(), bytes)
    }
}

pub(super) fn summary(id: RunId, run: &Run) -> RunSummary {
    RunSummary {
        id,
        flow: run.plan().slug().to_string(),
        status: run.state.status,
        remaining_steps: run.state.remaining_steps,
        started_at: run.started_at,
        ended_at: run.ended_at,
    }
}

fn step_record(run: &Run, step: usize, with_output: bool) -> StepRecord {
    let state = &run.state.steps[step];
    let output = run.steps[step].output.as_ref().filter(|_| with_output);
    StepRecord {
        slug: run.plan().step(step).slug.to_string(),
        is_map: run.plan().step(step).is_map,
        status: state.status,
        remaining_deps: state.remaining_deps,
        tasks: state.initial_tasks,
        remaining_tasks: state.remaining_tasks,
        output: output.cloned(),
        error: state.error.clone(),
        skip_reason: state.skip_reason,
        work: work(run, step),
    }
}

/// What the tasks of a started step are doing.
fn work(run: &Run, step: usize) -> Option<StepWork> {
    let tasks = &run.steps[step].tasks;
    let task = |task: &Task| TaskWork {
        attempts: task.row.counted(),
        worker: task.held.map(|(worker, _)| worker),
        error: task.error.clone(),
        yielded: task.yielded().cloned(),
        ready_at: task.row.ready_at,
        is_completed: task.row.status == TaskStatus::Completed,
    };
    run.state.is_live(step).then(|| StepWork::of(tasks.iter().map(task)))
}
