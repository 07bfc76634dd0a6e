//! The ends of attempts.

use std::collections::BTreeMap;

use pgflow_machine::{
    Finished, Settle, Settled, TaskKey, TaskStatus, Verdict, Violation, cut_error, elements,
    retry_delay, settle_rounds,
};
use serde_json::Value;

use super::queue::TaskRef;
use super::run::loaded;
use super::runs::broken;
use super::store::Store;
use crate::backend::BackendError;

impl Store {
    pub(super) fn settle(&mut self, settles: &[Settle]) -> Result<Vec<Settled>, BackendError> {
        self.check_fanouts(settles)?;
        let mut outcomes = vec![Settled::Unknown; settles.len()];
        for round in settle_rounds(settles) {
            let applied = self.settle_round(settles, &round)?;
            for at in round {
                let is_applied = applied[at];
                outcomes[at] =
                    if is_applied { Settled::Applied } else { self.refusal(&settles[at]) };
            }
        }
        Ok(outcomes)
    }

    /// Settles each task once. Says of all positions whether it took effect.
    fn settle_round(
        &mut self,
        settles: &[Settle],
        round: &[usize],
    ) -> Result<Vec<bool>, BackendError> {
        let mut applied = vec![false; settles.len()];
        let done = round.iter().filter(|at| output(&settles[**at]).is_some()).count();
        let (done, rest) = round.split_at(done);
        // What one breaks, those after it must see.
        let is_broken = done.iter().any(|at| self.violation(&settles[*at]).is_some());
        let same_group = |a: &usize, b: &usize| {
            !is_broken && settles[*a].lease.task.run == settles[*b].lease.task.run
        };
        for group in done.chunk_by(same_group) {
            self.complete(settles, group, &mut applied)?;
        }
        for &at in rest {
            applied[at] = self.give_back(&settles[at])?;
        }
        Ok(applied)
    }

    /// Refuses the whole batch if a map would become too wide.
    fn check_fanouts(&self, settles: &[Settle]) -> Result<(), BackendError> {
        for settle in settles {
            let Some((at, output)) = self.find(&settle.lease.task).zip(output(settle)) else {
                continue;
            };
            let Some(run) = self.runs.get(&at.run) else { continue };
            elements(run.plan(), at.step, output, &self.limits).map_err(|source| {
                let what = format!("the output of step {}", settle.lease.task.step);
                BackendError::Payload { what, source }
            })?;
        }
        Ok(())
    }

    fn violation(&self, settle: &Settle) -> Option<Violation> {
        let (at, output) = self.find(&settle.lease.task).zip(output(settle))?;
        let run = self.runs.get(&at.run)?;
        Violation::of(run.plan(), &run.state, at.step, output)
    }

    /// Completes tasks of one run.
    fn complete(
        &mut self,
        settles: &[Settle],
        group: &[usize],
        applied: &mut [bool],
    ) -> Result<(), BackendError> {
        let mut tasks: BTreeMap<usize, u32> = BTreeMap::new();
        for &item in group {
            let settle = &settles[item];
            let Some(at) = self.held(settle) else { continue };
            applied[item] = true;
            if let Some(violation) = self.violation(settle) {
                self.end_task(at, TaskStatus::Failed, None);
                self.turn(at.run, |turn| turn.violate(&violation));
                continue;
            }
            self.end_task(at, TaskStatus::Completed, output(settle).cloned());
            *tasks.entry(at.step).or_default() += 1;
        }
        let first = group.first().map(|first| settles[*first].lease.task.run);
        first.map_or(Ok(()), |run| self.finish(run, &tasks))
    }

    /// Takes completed tasks off their steps.
    fn finish(
        &mut self,
        id: pgflow_machine::RunId,
        tasks: &BTreeMap<usize, u32>,
    ) -> Result<(), BackendError> {
        let count = |turn: &mut pgflow_machine::Turn<'_>| {
            let is_done =
                |(step, tasks): (&usize, &u32)| turn.count_down(*step, *tasks).then_some(*step);
            tasks.iter().filter_map(is_done).collect::<Vec<_>>()
        };
        let done = if tasks.is_empty() { None } else { self.turn(id, count) };
        let Some(done) = done.filter(|done| !done.is_empty()) else { return Ok(()) };
        let limits = self.limits;
        let Some(run) = self.runs.get_mut(&id) else { return Ok(()) };
        let mut finished = Vec::new();
        for step in done {
            let output = run.take_output(step);
            // Too many elements were refused before anything was changed.
            let elements = elements(run.plan(), step, &output, &limits).unwrap_or_default();
            finished.push(Finished { step, output: loaded(output), elements });
        }
        self.turn(id, |turn| turn.finish(&finished)).unwrap_or(Ok(())).map_err(broken)
    }

    /// Fails or releases a task. Returns whether that took effect.
    fn give_back(&mut self, settle: &Settle) -> Result<bool, BackendError> {
        let Verdict::Failed { error, retry } = &settle.verdict else {
            return Ok(self.release(settle));
        };
        let Some(at) = self.held(settle) else {
            self.fail_quietly(settle);
            return Ok(false);
        };
        let Some(run) = self.runs.get(&at.run) else { return Ok(false) };
        let counted = run.task(at.step, at.index).map_or(0, super::run::Task::counted);
        if let Some(delay) = retry_delay(run.plan().step(at.step), counted, *retry) {
            self.let_go(at);
            self.enqueue(at, delay);
            return Ok(true);
        }
        self.end_task(at, TaskStatus::Failed, None);
        let error = cut_error(error);
        self.turn(at.run, |turn| turn.exhaust(at.step, error)).unwrap_or(Ok(())).map_err(broken)?;
        Ok(true)
    }

    fn release(&mut self, settle: &Settle) -> bool {
        let Some(at) = self.held(settle) else { return false };
        self.let_go(at);
        if let Some(task) =
            self.runs.get_mut(&at.run).and_then(|run| run.task_mut(at.step, at.index))
        {
            task.refunded += 1;
        }
        self.enqueue(at, 0);
        true
    }

    fn fail_quietly(&mut self, settle: &Settle) {
        let Some(at) = self.find(&settle.lease.task) else { return };
        let standing = self.runs.get(&at.run).and_then(|run| run.standing(at.step, at.index));
        if standing.is_some_and(|standing| standing.fails_quietly(settle.lease.attempt)) {
            self.end_task(at, TaskStatus::Failed, None);
        }
    }

    fn end_task(&mut self, at: TaskRef, status: TaskStatus, output: Option<Value>) {
        self.let_go(at);
        if let Some(task) =
            self.runs.get_mut(&at.run).and_then(|run| run.task_mut(at.step, at.index))
        {
            task.status = status;
            task.output = output;
        }
    }

    /// The task, if it is held with this attempt.
    fn held(&self, settle: &Settle) -> Option<TaskRef> {
        let at = self.find(&settle.lease.task)?;
        let standing = self.runs.get(&at.run)?.standing(at.step, at.index)?;
        standing.applies(settle.lease.attempt).then_some(at)
    }

    fn find(&self, key: &TaskKey) -> Option<TaskRef> {
        let step = self.runs.get(&key.run)?.plan().index(&key.step)?;
        Some(TaskRef { run: key.run, step, index: key.index })
    }

    fn refusal(&self, settle: &Settle) -> Settled {
        let standing = self
            .find(&settle.lease.task)
            .and_then(|at| self.runs.get(&at.run)?.standing(at.step, at.index));
        standing.map_or(Settled::Unknown, |standing| standing.refusal(settle.lease.attempt))
    }
}

fn output(settle: &Settle) -> Option<&Value> {
    match &settle.verdict {
        Verdict::Completed(output) => Some(output),
        _ => None,
    }
}
