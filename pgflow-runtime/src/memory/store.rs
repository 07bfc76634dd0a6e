//! All that is kept, and how a transition changes it.

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{
    Change, Effect, Limits, RunId, RunStatus, StepStatus, TaskStatus, Timestamp, Turn,
};

use super::clock::Clock;
use super::flows::Version;
use super::queue::{Queue, TaskRef};
use super::run::{Run, Task};

#[derive(Debug)]
pub(super) struct Store {
    pub(super) clock: Clock,
    pub(super) limits: Limits,
    /// By slug.
    pub(super) versions: HashMap<String, Arc<Version>>,
    /// By slug of the version.
    pub(super) queues: HashMap<Arc<str>, Queue>,
    pub(super) runs: HashMap<RunId, Run>,
    /// Runs by when they began.
    pub(super) by_start: BTreeSet<(Timestamp, RunId)>,
    /// Runs that go on.
    pub(super) open: BTreeSet<RunId>,
    /// Held tasks by when they count as lost. Entries may be of the past.
    pub(super) leases: BTreeSet<(Timestamp, TaskRef)>,
    last_ticket: u64,
    /// Flows that there is something new about.
    changed: BTreeSet<Arc<str>>,
}

impl Store {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            limits: Limits::default(),
            versions: HashMap::new(),
            queues: HashMap::new(),
            runs: HashMap::new(),
            by_start: BTreeSet::new(),
            open: BTreeSet::new(),
            leases: BTreeSet::new(),
            last_ticket: 0,
            changed: BTreeSet::new(),
        }
    }

    pub(super) fn take_changed(&mut self) -> BTreeSet<Arc<str>> {
        mem::take(&mut self.changed)
    }

    /// Executes transitions of a run that exists.
    pub(super) fn turn<T>(&mut self, id: RunId, act: impl FnOnce(&mut Turn<'_>) -> T) -> Option<T> {
        let run = self.runs.get_mut(&id)?;
        let version = Arc::clone(&run.version);
        let mut turn = Turn::new(&version.plan, &mut run.state);
        let result = act(&mut turn);
        let change = turn.end();
        self.apply(id, change);
        Some(result)
    }

    /// Does what a transition left to be done.
    pub(super) fn apply(&mut self, id: RunId, change: Change) {
        let now = self.clock.now();
        let Some(run) = self.runs.get_mut(&id) else { return };
        self.changed.insert(Arc::clone(run.plan().slug()));
        run.log.extend(change.log.into_iter().map(|entry| (now, entry)));
        if change.run && run.state.status.has_ended() {
            run.ended_at = Some(now);
            self.open.remove(&id);
        } else if change.run {
            run.ended_at = None;
            self.open.insert(id);
        }
        for effect in change.effects {
            match effect {
                Effect::Spawn { step, tasks, delay, .. } => self.spawn(id, step, tasks, delay),
                Effect::Requeue => self.requeue_open(id),
                Effect::Output { leaves } => self.put_out(id, &leaves),
                // Claims look at the status of run and step.
                Effect::DropStep { .. } | Effect::DropRun => {}
            }
        }
    }

    fn put_out(&mut self, id: RunId, leaves: &[usize]) {
        if let Some(run) = self.runs.get_mut(&id) {
            run.put_out(leaves);
        }
    }

    fn spawn(&mut self, id: RunId, step: usize, tasks: u32, delay: u32) {
        let now = self.clock.now();
        if let Some(run) = self.runs.get_mut(&id) {
            run.tasks[step] = (0..tasks).map(|_| Task::new(now)).collect();
        }
        for index in 0..tasks {
            self.enqueue(TaskRef { run: id, step, index }, delay);
        }
    }

    /// Queues a task; claimable in `delay` seconds.
    pub(super) fn enqueue(&mut self, task: TaskRef, delay: u32) {
        let ready_at = self.clock.now() + Duration::from_secs(delay.into());
        self.last_ticket += 1;
        let Some(run) = self.runs.get_mut(&task.run) else { return };
        let flow = Arc::clone(run.plan().slug());
        let Some(state) = run.task_mut(task.step, task.index) else { return };
        state.status = TaskStatus::Queued;
        state.ticket = self.last_ticket;
        state.held = None;
        if let Some(queue) = self.queues.get_mut(&flow) {
            queue.push((ready_at, self.last_ticket), task);
        }
        self.changed.insert(flow);
    }

    /// Queues what a failed run had left open.
    fn requeue_open(&mut self, id: RunId) {
        let now = self.clock.now();
        let Some(run) = self.runs.get_mut(&id) else { return };
        let plan = &run.version.plan;
        let mut steps: Vec<_> = (0..run.tasks.len()).collect();
        steps.sort_by_key(|step| Arc::clone(&plan.step(*step).slug));
        let mut open = Vec::new();
        for step in steps {
            if run.state.steps[step].status != StepStatus::Started {
                continue;
            }
            for (index, task) in (0..).zip(&mut run.tasks[step]) {
                if task.status != TaskStatus::Completed {
                    refund(task);
                    task.queued_at = now;
                    open.push(TaskRef { run: id, step, index });
                }
            }
        }
        for task in open {
            self.enqueue(task, 0);
        }
    }

    /// Whether a task may be claimed with this ticket.
    pub(super) fn is_waiting(&self, task: TaskRef, ticket: u64) -> bool {
        let Some(run) = self.runs.get(&task.run) else { return false };
        let is_open = run.state.status == RunStatus::Started
            && run.state.steps[task.step].status == StepStatus::Started;
        let is_queued = |it: &Task| it.status == TaskStatus::Queued && it.ticket == ticket;
        is_open && run.task(task.step, task.index).is_some_and(is_queued)
    }
}

/// What becomes of a task's budget when its failed run goes on.
fn refund(task: &mut Task) {
    if task.status == TaskStatus::Failed || task.is_stalled {
        task.refunded = task.attempts;
        task.requeued = 0;
        task.is_stalled = false;
    } else if task.status == TaskStatus::Started {
        task.refunded += 1;
    }
    task.output = None;
}
