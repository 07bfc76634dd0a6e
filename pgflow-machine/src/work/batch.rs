//! Settling attempts, a batch at once.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Command, Needs, Retry, Rows, Settle, Settled, Standing, TaskLease, TaskRef, TaskWrite, Until,
    Verdict, Writes, cut_error, retry_delay, settle_rounds, whole_seconds,
};
use crate::wait::NewWait;
use crate::{
    Change, Effect, Entry, Excess, Finished, Limits, NotLoaded, OUTPUT_BYTES, Output, Plan,
    Refusal, RunId, TaskStatus, Timestamp, Violation, completed_leaves, elements, excess,
    is_measured, payload_bytes,
};

/// Settles attempts; there is an outcome for each, in their order.
#[derive(Clone, Copy, Debug)]
pub struct SettleBatch<'a> {
    /// The attempts.
    pub settles: &'a [Settle],
    /// What payloads may be.
    pub limits: Limits,
}

impl Command for SettleBatch<'_> {
    type Answer = Vec<Settled>;

    fn needs(&self) -> Needs {
        Needs::of_leases(self.settles.iter().map(|settle| &settle.lease))
    }

    fn more(&self, rows: &Rows) -> Needs {
        Fence::Lease.more(self.settles, rows)
    }

    fn decide<'c>(
        &'c self,
        rows: &mut Rows,
        now: Timestamp,
    ) -> Result<(Vec<Settled>, Writes<'c>), Refusal> {
        let settles = self.settles;
        let mut batch = Batch::new(Fence::Lease, settles, self.limits, rows, now);
        batch.check_fanouts()?;
        let mut outcomes = vec![Settled::Unknown; settles.len()];
        for round in settle_rounds(settles) {
            batch.give_up_outlived(&round);
            batch.settle_round(&round)?;
            for at in round {
                let outcome = if batch.applied[at] { Settled::Applied } else { batch.refusal(at) };
                outcomes[at] = outcome;
            }
        }
        Ok((outcomes, batch.writes))
    }
}

/// What gives the right to settle a task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fence {
    /// The lease of the attempt.
    Lease,
    /// The wait that the attempt began.
    Wait,
}

impl Fence {
    fn holds(self, standing: Standing, attempt: u32) -> bool {
        match self {
            Self::Lease => standing.applies(attempt),
            Self::Wait => standing.waits(attempt),
        }
    }

    /// What is to be looked at, now that runs and tasks are loaded.
    pub(crate) fn more(self, settles: &[Settle], rows: &Rows) -> Needs {
        let mut needs = Needs::default();
        for (id, steps) in self.ending(settles, rows) {
            let run = &rows.runs[&id];
            let (plan, state) = (&run.version.plan, &run.state);
            let may_end = |(step, tasks): (&usize, &u32)| {
                let left = state.steps[*step].remaining_tasks.unwrap_or(0);
                (*tasks >= left).then_some(*step)
            };
            let ending: Vec<_> = steps.iter().filter_map(may_end).collect();
            if !ending.is_empty() {
                needs.conditions(id, run, &ending);
            }
            let measured: Vec<_> =
                ending.iter().copied().filter(|step| is_measured(plan, *step)).collect();
            if !measured.is_empty() {
                let all = measured.into_iter().chain(completed_leaves(plan, state));
                needs.weights.extend(all.map(|step| (id, step)));
            }
            let maps = ending.into_iter().filter(|step| plan.step(*step).is_map);
            let asked = maps.filter(|step| is_asked_for(plan, *step));
            needs.map_outputs.extend(asked.map(|step| (id, step)));
        }
        needs
    }

    /// How many tasks of each step the batch may complete; as many as there can be where it may exhaust the step.
    fn ending(self, settles: &[Settle], rows: &Rows) -> BTreeMap<RunId, BTreeMap<usize, u32>> {
        let mut ending: BTreeMap<RunId, BTreeMap<usize, u32>> = BTreeMap::new();
        for settle in settles {
            let Some(TaskLease { task, attempt }) = settle.lease.task() else { continue };
            let at = rows.find(task);
            let applies = |at: &TaskRef| {
                rows.standing(*at).is_some_and(|standing| self.holds(standing, *attempt))
            };
            let Some(at) = at.filter(applies) else { continue };
            let tasks = match settle.verdict {
                Verdict::Completed(_) => 1,
                Verdict::Failed { retry, .. } if rows.delay(at, retry).is_none() => u32::MAX,
                _ => continue,
            };
            let of_step = ending.entry(at.run).or_default().entry(at.step).or_default();
            *of_step = of_step.saturating_add(tasks);
        }
        ending
    }
}

impl Rows {
    /// In how many seconds a task is tried again that fails now.
    fn delay(&self, at: TaskRef, retry: Retry) -> Option<u32> {
        let counted = self.tasks.get(&at)?.counted();
        retry_delay(self.runs.get(&at.run)?.version.plan.step(at.step), counted, retry)
    }
}

/// Whether a condition may be held against what this step puts out.
fn is_asked_for(plan: &Plan, step: usize) -> bool {
    plan.step(step).dependents.iter().any(|dependent| plan.step(*dependent).has_condition())
}

/// An error as it is stored. Not every database keeps a NUL in a text.
fn clean(error: &str) -> String {
    cut_error(error).replace('\0', "\u{fffd}")
}

fn output(settle: &Settle) -> Option<&Value> {
    match &settle.verdict {
        Verdict::Completed(output) => Some(output),
        _ => None,
    }
}

/// A batch while it is being settled.
pub(crate) struct Batch<'c, 'r> {
    fence: Fence,
    settles: &'c [Settle],
    limits: Limits,
    rows: &'r mut Rows,
    now: Timestamp,
    pub(crate) writes: Writes<'c>,
    /// Which of them took effect.
    applied: Vec<bool>,
}

impl<'c, 'r> Batch<'c, 'r> {
    pub(crate) fn new(
        fence: Fence,
        settles: &'c [Settle],
        limits: Limits,
        rows: &'r mut Rows,
        now: Timestamp,
    ) -> Self {
        let applied = vec![false; settles.len()];
        Self { fence, settles, limits, rows, now, writes: Writes::default(), applied }
    }

    fn lease(&self, at: usize) -> Option<&'c TaskLease> {
        self.settles[at].lease.task()
    }

    fn find(&self, at: usize) -> Option<TaskRef> {
        self.rows.find(&self.lease(at)?.task)
    }

    fn standing(&self, at: usize) -> Option<Standing> {
        self.rows.standing(self.find(at)?)
    }

    /// The task of a settle, if that takes effect.
    pub(crate) fn held(&self, at: usize) -> Option<TaskRef> {
        let attempt = self.lease(at)?.attempt;
        let holds = |standing| self.fence.holds(standing, attempt);
        self.find(at).filter(|_| self.standing(at).is_some_and(holds))
    }

    /// What a settle that did not take effect is told, as the state is after its round.
    fn refusal(&self, at: usize) -> Settled {
        let standing = self.standing(at).or_else(|| self.spawned(at)).zip(self.lease(at));
        standing.map_or(Settled::Unknown, |(standing, lease)| standing.refusal(lease.attempt))
    }

    /// The standing of a task that is there since this batch.
    fn spawned(&self, at: usize) -> Option<Standing> {
        let task = self.find(at)?;
        let spawns = |effect: &Effect| match effect {
            Effect::Spawn { step, tasks, .. } => *step == task.step && task.index < *tasks,
            _ => false,
        };
        let state = &self.rows.runs.get(&task.run)?.state;
        let (run, step) = (state.status, state.steps[task.step].status);
        let is_new = self.writes.changes.get(&task.run)?.effects.iter().any(spawns);
        is_new.then_some(Standing { run, step, task: TaskStatus::Queued, attempts: 0 })
    }

    fn violation(&self, at: usize) -> Option<Violation> {
        let (task, output) = self.find(at).zip(output(&self.settles[at]))?;
        let run = self.rows.runs.get(&task.run)?;
        Violation::of(&run.version.plan, &run.state, task.step, output)
    }

    /// Refuses the whole batch if a map would become too wide. What takes no effect makes no map wide.
    fn check_fanouts(&self) -> Result<(), Refusal> {
        for (at, settle) in self.settles.iter().enumerate() {
            let Some((task, output)) = self.held(at).zip(output(settle)) else { continue };
            let plan = &self.rows.runs[&task.run].version.plan;
            elements(plan, task.step, output, &self.limits).map_err(|source| {
                let what = format!("the output of step {}", plan.step(task.step).slug);
                Refusal::Payload { what, source }
            })?;
        }
        Ok(())
    }

    /// Whoever says how an attempt ended does not work on it any more, also if that changes nothing.
    fn give_up_outlived(&mut self, round: &[usize]) {
        for &item in round {
            let Some((standing, lease)) = self.standing(item).zip(self.lease(item)) else {
                continue;
            };
            if standing.outlived(lease.attempt) {
                self.writes.given_up.extend(self.find(item).map(|at| (at, lease.attempt)));
            }
        }
    }

    /// Settles each task once.
    fn settle_round(&mut self, round: &[usize]) -> Result<(), Refusal> {
        let done = round.iter().filter(|at| output(&self.settles[**at]).is_some()).count();
        let (done, rest) = round.split_at(done);
        // What one breaks, those after it must see.
        let is_broken = done.iter().any(|at| self.violation(*at).is_some());
        let settles = self.settles;
        let run = |at: &usize| settles[*at].lease.task().map(|lease| lease.task.run);
        for group in done.chunk_by(|a, b| !is_broken && run(a) == run(b)) {
            self.complete(group)?;
        }
        rest.iter().try_for_each(|at| self.give_up(*at))
    }

    /// Completes tasks of one run.
    fn complete(&mut self, group: &[usize]) -> Result<(), Refusal> {
        let settles = self.settles;
        let mut done: BTreeMap<usize, (u32, &'c Value)> = BTreeMap::new();
        for &item in group {
            let Some((at, output)) = self.held(item).zip(output(&settles[item])) else { continue };
            self.applied[item] = true;
            if let Some(violation) = self.violation(item) {
                self.end(at, TaskStatus::Failed, Some(violation.task_error()), Some(output));
                self.turn(at.run, |turn| turn.violate(&violation));
                continue;
            }
            self.end(at, TaskStatus::Completed, None, Some(output));
            done.entry(at.step).or_insert((0, output)).0 += 1;
        }
        match group.first().and_then(|first| self.lease(*first)) {
            Some(first) if !done.is_empty() => self.count_down(first.task.run, &done),
            _ => Ok(()),
        }
    }

    /// Takes completed tasks off their steps, and finishes those that have none left.
    fn count_down(
        &mut self,
        run: RunId,
        done: &BTreeMap<usize, (u32, &'c Value)>,
    ) -> Result<(), Refusal> {
        let ended = self.turn(run, |turn| {
            let is_over =
                |(step, (tasks, _)): &(&usize, &(u32, &Value))| turn.count_down(**step, *tasks);
            done.iter().filter(is_over).collect::<Vec<_>>()
        });
        let ended = ended.unwrap_or_default();
        if ended.is_empty() {
            return Ok(());
        }
        let excess = self.excess(run, ended.iter().map(|(step, _)| **step));
        let fits = |step: usize| excess.iter().all(|it| it.step != step);
        let fitting = ended.into_iter().filter(|(step, _)| fits(**step));
        let finished = fitting.map(|(step, (_, output))| self.finished(run, *step, output));
        let finished = finished.collect::<Result<Vec<_>, Refusal>>()?;
        let end = |turn: &mut crate::Turn<'_>| {
            turn.finish(&finished)?;
            excess.iter().try_for_each(|it| turn.exhaust(it.step, &it.error))
        };
        Ok(self.turn(run, end).unwrap_or(Ok(()))?)
    }

    /// Which of these steps, whose tasks are all completed, put out too much.
    fn excess(&mut self, run: RunId, ended: impl Iterator<Item = usize>) -> Vec<Excess> {
        let row = &self.rows.runs[&run];
        let plan = &row.version.plan;
        let ended: Vec<_> = ended
            .filter(|step| is_measured(plan, *step))
            .map(|step| (step, self.weight(run, step) + self.weight_of_batch(run, step)))
            .collect();
        if ended.is_empty() {
            return Vec::new();
        }
        let leaves: Vec<_> =
            completed_leaves(plan, &row.state).map(|step| self.weight(run, step)).collect();
        let excess = excess(plan, &ended, &leaves, OUTPUT_BYTES);
        self.rows.weights.extend(ended.into_iter().map(|(step, bytes)| ((run, step), bytes)));
        excess
    }

    fn weight(&self, run: RunId, step: usize) -> usize {
        self.rows.weights.get(&(run, step)).copied().unwrap_or(0)
    }

    /// How many bytes the tasks of a step put out that are completed with this batch.
    fn weight_of_batch(&self, run: RunId, step: usize) -> usize {
        let of_step = |write: &&TaskWrite<'_>| (write.at.run, write.at.step) == (run, step);
        let outputs = self.writes.tasks.iter().filter(of_step).filter_map(|write| write.output);
        outputs.map(payload_bytes).sum()
    }

    /// A step whose tasks are all completed, with its output where a condition may ask for it.
    fn finished(&self, run: RunId, step: usize, output: &Value) -> Result<Finished, Refusal> {
        let plan = &self.rows.runs[&run].version.plan;
        // Too many were refused before anything was changed.
        let elements = elements(plan, step, output, &self.limits).unwrap_or_default();
        let output = match (is_asked_for(plan, step), plan.step(step).is_map) {
            (false, _) => Output::Stored,
            (true, false) => Output::loaded(output.clone()),
            (true, true) => Output::loaded(self.map_output(run, step)?),
        };
        Ok(Finished { step, output, elements })
    }

    /// What the tasks of a map put out: those before the batch, and those of it.
    fn map_output(&self, run: RunId, step: usize) -> Result<Value, NotLoaded> {
        let before = self.rows.map_outputs.get(&(run, step)).ok_or(NotLoaded { step })?;
        let mut outputs: BTreeMap<u32, &Value> =
            before.iter().map(|(index, output)| (*index, output)).collect();
        for write in &self.writes.tasks {
            if (write.at.run, write.at.step) == (run, step) {
                outputs.extend(write.output.map(|output| (write.at.index, output)));
            }
        }
        Ok(Value::Array(outputs.into_values().cloned().collect()))
    }

    /// Fails, releases or yields a task, or lets it wait.
    fn give_up(&mut self, item: usize) -> Result<(), Refusal> {
        let settle = &self.settles[item];
        let Some(at) = self.held(item) else {
            self.fail_quietly(item);
            return Ok(());
        };
        self.applied[item] = true;
        match &settle.verdict {
            Verdict::Failed { error, retry } => return self.fail(at, clean(error), *retry),
            Verdict::Yielded { until: Until::After(delay), reason } => {
                self.release(at, whole_seconds(*delay), Some(clean(reason)));
            }
            Verdict::Yielded { until: Until::Met(wait), .. } => self.wait(at, wait),
            Verdict::Released | Verdict::Completed(_) | Verdict::Job(_) | Verdict::Messages(_) => {
                self.release(at, 0, None);
            }
        }
        Ok(())
    }

    /// Lets a task wait, out of everybody's hands.
    fn wait(&mut self, at: TaskRef, wait: &NewWait) {
        self.end(at, TaskStatus::Waiting, None, None);
        let (on, until) = (wait.on.kind(), wait.until(self.now));
        self.log(at.run, Entry::StepWaiting { step: at.step, index: at.index, on, until });
        self.rows.ties.entry(at.run).or_default().waits = true;
    }

    /// Ends a wait: says so, then completes or fails the task.
    pub(crate) fn end_wait(&mut self, item: usize, entry: Entry) -> Result<(), Refusal> {
        let Some(at) = self.held(item) else { return Ok(()) };
        self.log(at.run, entry);
        let Some(output) = output(&self.settles[item]) else { return self.give_up(item) };
        let plan = &self.rows.runs[&at.run].version.plan;
        match elements(plan, at.step, output, &self.limits) {
            Ok(_) => self.complete(&[item]),
            Err(error) => {
                let error = format!("cannot store what it waited for: {error}");
                self.fail(at, error, Retry::ByPolicy)
            }
        }
    }

    /// Appends to a run's log.
    pub(crate) fn log(&mut self, run: RunId, entry: Entry) {
        self.writes.change(run, Change { log: vec![entry], ..Change::default() });
    }

    fn fail(&mut self, at: TaskRef, error: String, retry: Retry) -> Result<(), Refusal> {
        if let Some(delay) = self.rows.delay(at, retry) {
            self.queue(at, delay, Some(error), None);
            return Ok(());
        }
        let exhausted = self.turn(at.run, |turn| turn.exhaust(at.step, &error));
        self.end(at, TaskStatus::Failed, Some(error), None);
        Ok(exhausted.unwrap_or(Ok(()))?)
    }

    /// A failure that is told when the run has ended already is only noted.
    fn fail_quietly(&mut self, item: usize) {
        let settle = &self.settles[item];
        let Verdict::Failed { error, .. } = &settle.verdict else { return };
        let Some(lease) = self.lease(item) else { return };
        let is_noted = |it: Standing| it.fails_quietly(lease.attempt);
        if let Some(at) = self.find(item).filter(|_| self.standing(item).is_some_and(is_noted)) {
            self.end(at, TaskStatus::Failed, Some(clean(error)), None);
        }
    }

    /// Queues a task, and gives the attempt back.
    fn release(&mut self, at: TaskRef, delay: u32, yielded: Option<String>) {
        if let Some(row) = self.rows.tasks.get_mut(&at) {
            row.refunded += 1;
        }
        self.queue(at, delay, None, yielded);
    }

    fn queue(&mut self, at: TaskRef, delay: u32, error: Option<String>, yielded: Option<String>) {
        let ready_at = self.now + std::time::Duration::from_secs(delay.into());
        if let Some(row) = self.rows.tasks.get_mut(&at) {
            *row = row.queued(ready_at);
            self.writes.tasks.push(TaskWrite { at, row: *row, error, yielded, output: None });
        }
    }

    fn end(
        &mut self,
        at: TaskRef,
        status: TaskStatus,
        error: Option<String>,
        output: Option<&'c Value>,
    ) {
        if let Some(row) = self.rows.tasks.get_mut(&at) {
            *row = row.ended(status);
            self.writes.tasks.push(TaskWrite { at, row: *row, error, yielded: None, output });
        }
    }

    fn turn<T>(&mut self, run: RunId, act: impl FnOnce(&mut crate::Turn<'_>) -> T) -> Option<T> {
        let (result, change) = self.rows.turn(run, act)?;
        self.writes.change(run, change);
        Some(result)
    }
}
