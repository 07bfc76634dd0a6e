//! Rows, loaded and written.

use std::collections::BTreeMap;
use std::time::Duration;

use pgflow_machine::{
    Change, Effect, Needs, NewRow, Rows, RunId, RunRow, RunState, TaskRef, TaskRow, TaskStatus,
    TaskWrite, Ties, Timestamp, Writes, ready_at,
};
use serde_json::Value;

use super::data::Data;
use super::run::{Run, StepData, Task};

impl Data {
    pub(super) fn load(&self, needs: &Needs, rows: &mut Rows) {
        // Payloads are asked for by themselves.
        let Needs { runs, tasks, attempted, payloads: _, map_outputs, weights } = needs;
        for id in runs {
            if let Some(run) = self.runs.get(id) {
                let (version, state) = (run.version.clone(), run.state.clone());
                rows.runs.insert(*id, RunRow { version, state });
                if run.ties != Ties::default() {
                    rows.ties.insert(*id, run.ties);
                }
            }
        }
        for key in tasks {
            let found = rows.find(key).and_then(|at| Some((at, self.task(at)?.row)));
            rows.tasks.extend(found);
        }
        for id in attempted {
            rows.tasks.extend(self.tasks_of(*id).filter(|(_, row)| is_attempted(row)));
        }
        for &(id, step) in map_outputs {
            let outputs = self.runs.get(&id).map(|run| outputs(run, step)).unwrap_or_default();
            rows.map_outputs.insert((id, step), outputs);
        }
        for &(id, step) in weights {
            let weight = self.runs.get(&id).map_or(0, |run| run.steps[step].weight());
            rows.weights.insert((id, step), weight);
        }
    }

    pub(super) fn task(&self, at: TaskRef) -> Option<&Task> {
        self.runs.get(&at.run)?.task(at.step, at.index)
    }

    fn tasks_of(&self, run: RunId) -> impl Iterator<Item = (TaskRef, TaskRow)> {
        let steps = self.runs.get(&run).into_iter().flat_map(|run| run.steps.iter().enumerate());
        steps.flat_map(move |(step, data)| {
            let at = move |index| TaskRef { run, step, index };
            (0..).map(at).zip(data.tasks.iter().map(|task| task.row))
        })
    }

    pub(super) fn write(&mut self, now: Timestamp, rows: &Rows, writes: Writes<'_>) {
        // What is held is given up by itself.
        let Writes { started, cancelled, tasks, changes, given_up: _ } = writes;
        for new in started {
            self.insert(now, &rows.runs[&new.run], new);
        }
        for (id, reason) in cancelled {
            if let Some(run) = self.runs.get_mut(&id) {
                run.cancel_reason = reason.map(str::to_owned);
            }
        }
        for write in tasks {
            self.write_task(write);
        }
        for (id, change) in changes {
            self.change(now, id, &rows.runs[&id].state, change);
        }
    }

    fn insert(&mut self, now: Timestamp, row: &RunRow, new: NewRow<'_>) {
        let state = RunState { input: None, ..row.state.clone() };
        let run = Run {
            version: row.version.clone(),
            steps: state.steps.iter().map(|_| StepData::default()).collect(),
            state,
            log: Vec::new(),
            input: new.input.clone(),
            output: None,
            started_at: now,
            ended_at: None,
            cancel_reason: None,
            ties: Ties::default(),
        };
        self.runs.insert(new.run, run);
        self.by_start.insert((now, new.run));
    }

    fn write_task(&mut self, write: TaskWrite<'_>) {
        let TaskWrite { at, row, error, yielded, output } = write;
        self.set_task(at, row);
        let run = self.runs.get_mut(&at.run);
        let Some(task) = run.and_then(|run| run.task_mut(at.step, at.index)) else { return };
        task.error = error.or(task.error.take());
        task.yielded = yielded.map(|reason| (row.attempts, reason)).or(task.yielded.take());
        task.output = output.cloned();
        task.held = task.held.filter(|_| row.status == TaskStatus::Started);
    }

    fn change(&mut self, now: Timestamp, id: RunId, state: &RunState, change: Change) {
        let Some(run) = self.runs.get_mut(&id) else { return };
        (run.state.status, run.state.remaining_steps) = (state.status, state.remaining_steps);
        for &step in &change.steps {
            run.set_step(step, &state.steps[step], now);
        }
        run.log.extend(change.log.into_iter().map(|entry| (now, entry)));
        if state.status.has_ended() {
            run.ended_at.get_or_insert(now);
            self.open.remove(&id);
        } else {
            run.ended_at = None;
            self.open.insert(id);
        }
        for effect in change.effects {
            self.effect(now, id, effect);
        }
    }

    fn effect(&mut self, now: Timestamp, id: RunId, effect: Effect) {
        match effect {
            Effect::Spawn { step, tasks, delay, .. } => self.spawn(now, (id, step), tasks, delay),
            Effect::DropStep { step } => self.drop_tasks(id, |at| at.step == step),
            Effect::DropRun => self.drop_tasks(id, |_| true),
            Effect::Requeue { steps } => {
                for step in steps {
                    self.requeue(now, id, step);
                }
            }
            Effect::Output { leaves } => {
                if let Some(run) = self.runs.get_mut(&id) {
                    run.put_out(&leaves);
                }
            }
        }
    }

    fn spawn(&mut self, now: Timestamp, (run, step): (RunId, usize), tasks: u32, delay: Duration) {
        if let Some(run) = self.runs.get_mut(&run) {
            run.steps[step].tasks = (0..tasks).map(|_| Task::new()).collect();
        }
        for index in 0..tasks {
            let row = TaskRow { ready_at: Some(ready_at(now, delay, index)), ..NEW };
            self.set_task(TaskRef { run, step, index }, row);
        }
    }

    fn drop_tasks(&mut self, run: RunId, is_meant: impl Fn(&TaskRef) -> bool) {
        let open = |row: &TaskRow| row.ready_at.is_some() || row.lost_after.is_some();
        let tasks = self.tasks_of(run).filter(|(at, row)| is_meant(at) && open(row));
        for (at, row) in tasks.collect::<Vec<_>>() {
            self.set_task(at, TaskRow { ready_at: None, lost_after: None, ..row });
        }
    }

    fn requeue(&mut self, now: Timestamp, run: RunId, step: usize) {
        let queued =
            |(at, row): &(TaskRef, TaskRow)| at.step == step && row.status == TaskStatus::Queued;
        let tasks: Vec<_> = self.tasks_of(run).filter(queued).collect();
        for (at, row) in tasks {
            self.set_task(
                at,
                TaskRow { ready_at: Some(ready_at(now, Duration::ZERO, at.index)), ..row },
            );
        }
    }
}

/// The row of a new task.
const NEW: TaskRow = TaskRow {
    status: TaskStatus::Queued,
    attempts: 0,
    refunded: 0,
    losses: 0,
    ready_at: None,
    lost_after: None,
};

impl Task {
    fn new() -> Self {
        Self { row: NEW, ticket: 0, held: None, error: None, yielded: None, output: None }
    }
}

fn is_attempted(row: &TaskRow) -> bool {
    matches!(row.status, TaskStatus::Started | TaskStatus::Waiting | TaskStatus::Failed)
}

fn outputs(run: &Run, step: usize) -> BTreeMap<u32, Value> {
    let tasks = (0..).zip(&run.steps[step].tasks);
    let completed = tasks.filter(|(_, task)| task.row.status == TaskStatus::Completed);
    completed.filter_map(|(index, task)| Some((index, task.output.clone()?))).collect()
}
