//! Runs, from the outside.

use std::ops::Bound;

use pgflow_machine::{Event, RunId};

use super::run::Run;
use super::store::Store;
use crate::backend::{Parts, RunQuery, RunRecord, RunSummary, StepRecord};

impl Store {
    pub(super) fn record(&self, id: RunId, parts: Parts) -> Option<RunRecord> {
        let run = self.runs.get(&id)?;
        let steps = if parts == Parts::Run { 0..0 } else { 0..run.state.steps.len() };
        Some(RunRecord {
            id,
            flow: run.plan().slug().to_string(),
            status: run.state.status,
            input: serde_json::Value::clone(&run.input),
            output: run.output.clone(),
            remaining_steps: run.state.remaining_steps,
            started_at: run.started_at,
            ended_at: run.ended_at,
            cancel_reason: run.cancel_reason.clone(),
            steps: steps.map(|step| step_record(run, step, parts == Parts::Outputs)).collect(),
        })
    }

    pub(super) fn list(&self, query: &RunQuery) -> Vec<RunSummary> {
        let end = query.after.map_or(Bound::Unbounded, Bound::Excluded);
        let newest_first = self.by_start.range((Bound::Unbounded, end)).rev();
        let found = newest_first.filter_map(|(_, id)| Some((*id, self.runs.get(id)?)));
        let is_asked = |(_, run): &(RunId, &Run)| {
            (query.flows.is_empty() || query.flows.contains(&run.version.flow))
                && (query.statuses.is_empty() || query.statuses.contains(&run.state.status))
        };
        found.filter(is_asked).take(query.max as usize).map(|(id, run)| summary(id, run)).collect()
    }

    pub(super) fn events(&self, id: RunId, after: u64, max: u32) -> Vec<Event> {
        let Some(run) = self.runs.get(&id) else { return Vec::new() };
        let seen = usize::try_from(after).unwrap_or(usize::MAX).min(run.log.len());
        let new = run.log[seen..].iter().take(max as usize);
        let event = |(seq, (at, entry)): (u64, &(_, pgflow_machine::Entry))| Event {
            seq,
            at: *at,
            what: entry.happened(run.plan(), |payload| run.payload(payload)),
        };
        (after.saturating_add(1)..).zip(new).map(event).collect()
    }
}

fn summary(id: RunId, run: &Run) -> RunSummary {
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
    let output = state.output.value().filter(|_| with_output);
    StepRecord {
        slug: run.plan().step(step).slug.to_string(),
        status: state.status,
        remaining_deps: state.remaining_deps,
        tasks: state.initial_tasks,
        remaining_tasks: state.remaining_tasks,
        output: output.map(|output| serde_json::Value::clone(output)),
        error: state.error.clone(),
        skip_reason: state.skip_reason,
    }
}
