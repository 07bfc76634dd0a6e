//! What is kept of waits.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pgflow_machine::job::Dependency;
use pgflow_machine::wait::{Child, ChildEnd, HookToken, WaitRow};
use pgflow_machine::{RunId, TaskKey, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::backend::{WaitQuery, WaitRecord, WaitingFor};
use crate::store::{OpenWait, Orphan, SignalFound, SignalRow, WaitsOf};

/// All waits, hooks and signals.
#[derive(Debug, Default)]
pub(super) struct WaitData {
    waits: BTreeMap<TaskKey, OpenWait>,
    by_until: BTreeSet<(Timestamp, TaskKey)>,
    /// Who waits for what.
    awaited: BTreeMap<Dependency, BTreeSet<TaskKey>>,
    /// Waits whose children have ended since somebody looked.
    news: BTreeSet<TaskKey>,
    orphans: BTreeMap<Dependency, (RunId, String)>,
    hooks: BTreeMap<HookToken, TaskKey>,
    announced: HashMap<TaskKey, HookToken>,
    /// In the order in which they came.
    signals: BTreeMap<i64, Kept>,
    by_resume_id: HashMap<(String, String), i64>,
    last_signal: i64,
}

#[derive(Debug)]
struct Kept {
    target: String,
    resume_id: String,
    run: Option<RunId>,
    payload: Option<(Value, Timestamp)>,
    digest: Option<Uuid>,
}

impl WaitData {
    pub(super) fn open(&mut self, wait: &OpenWait) {
        let task = &wait.task;
        self.by_until.extend(wait.row.until.map(|until| (until, task.clone())));
        for child in &wait.children {
            self.awaited.entry(child.on.clone()).or_default().insert(task.clone());
        }
        self.waits.insert(task.clone(), wait.clone());
    }

    pub(super) fn get(&self, task: &TaskKey) -> Option<&OpenWait> {
        self.waits.get(task)
    }

    pub(super) fn close(&mut self, of: WaitsOf<'_>, reason: &str) -> u64 {
        let is_meant = |task: &&TaskKey| match of {
            WaitsOf::Task(meant) => *task == meant,
            WaitsOf::Step(run, step) => task.run == run && task.step == step,
            WaitsOf::Run(run) => task.run == run,
        };
        let first = match of {
            WaitsOf::Task(task) => task.clone(),
            WaitsOf::Step(run, step) => TaskKey { run, step: step.to_owned(), index: 0 },
            WaitsOf::Run(run) => TaskKey { run, step: String::new(), index: 0 },
        };
        let closed = self.waits.range(first..).map(|(task, _)| task).take_while(is_meant);
        let closed: Vec<_> = closed.cloned().collect();
        closed.iter().map(|task| self.close_one(task, reason)).sum()
    }

    fn close_one(&mut self, task: &TaskKey, reason: &str) -> u64 {
        let Some(wait) = self.waits.remove(task) else { return 0 };
        self.news.remove(task);
        if let Some(until) = wait.row.until {
            self.by_until.remove(&(until, task.clone()));
        }
        if let Some(token) = wait.row.token.filter(|token| !token.is_announced()) {
            self.hooks.remove(&token);
        }
        let mut orphans = 0;
        for Child { on, end } in wait.children {
            if let Some(waiters) = self.awaited.get_mut(&on) {
                waiters.remove(task);
                if waiters.is_empty() {
                    self.awaited.remove(&on);
                }
            }
            if end.is_none() && !wait.row.detached {
                self.orphans.insert(on, (task.run, reason.to_owned()));
                orphans += 1;
            }
        }
        orphans
    }

    pub(super) fn due(&self, now: Timestamp, max: u32) -> Vec<TaskKey> {
        let over = self.by_until.iter().take_while(|(until, _)| *until <= now);
        let due = self.news.iter().chain(over.map(|(_, task)| task));
        let due: BTreeSet<_> = due.take(max as usize).cloned().collect();
        due.into_iter().collect()
    }

    pub(super) fn next(&self, now: Timestamp) -> Option<Timestamp> {
        if !self.news.is_empty() || !self.orphans.is_empty() {
            return Some(now);
        }
        let expiry = self.signals.values().filter_map(|kept| Some(kept.payload.as_ref()?.1)).min();
        self.by_until.first().map(|(until, _)| *until).into_iter().chain(expiry).min()
    }

    /// Notes how a child ended, unless that is known; with `replaces`, also then. Says how many wait for it.
    pub(super) fn note_end(&mut self, child: &Dependency, end: &ChildEnd, replaces: bool) -> u64 {
        let waiters = self.awaited.get(child).cloned().unwrap_or_default();
        let mut noted = 0;
        for task in &waiters {
            let children = self.waits.get_mut(task).into_iter().flat_map(|wait| &mut wait.children);
            let meant = children.filter(|it| it.on == *child && (replaces || it.end.is_none()));
            for child in meant {
                child.end = Some(end.clone());
                self.news.insert(task.clone());
                noted += 1;
            }
        }
        noted
    }

    pub(super) fn mark_seen(&mut self, task: &TaskKey) {
        self.news.remove(task);
    }

    /// Whether a task waits for the end of this child.
    pub(super) fn is_awaited(&self, child: &Dependency) -> bool {
        let waiters = self.awaited.get(child).into_iter().flatten();
        let mut children =
            waiters.filter_map(|task| self.waits.get(task)).flat_map(|it| &it.children);
        children.any(|it| it.on == *child && it.end.is_none())
    }

    /// Whether a wait has still to read what this child put out, ended or not.
    pub(super) fn is_read_later(&self, child: &Dependency) -> bool {
        self.awaited.contains_key(child)
    }

    /// Whether tasks of this run wait.
    pub(super) fn has_waits(&self, run: RunId) -> bool {
        let first = TaskKey { run, step: String::new(), index: 0 };
        self.waits.range(first..).next().is_some_and(|(task, _)| task.run == run)
    }

    pub(super) fn orphans(&self, max: u32) -> Vec<Orphan> {
        let orphan = |(child, (parent, reason)): (&Dependency, &(RunId, String))| Orphan {
            child: child.clone(),
            parent: *parent,
            reason: reason.clone(),
        };
        self.orphans.iter().take(max as usize).map(orphan).collect()
    }

    pub(super) fn forget_orphan(&mut self, child: &Dependency) {
        self.orphans.remove(child);
    }

    pub(super) fn hook(&self, token: &HookToken) -> Option<TaskKey> {
        self.hooks.get(token).cloned()
    }

    pub(super) fn set_hook(&mut self, token: &HookToken, task: &TaskKey) {
        self.hooks.insert(token.clone(), task.clone());
        if token.is_announced() {
            self.announced.insert(task.clone(), token.clone());
        }
    }

    pub(super) fn announced(&self, task: &TaskKey) -> Option<HookToken> {
        self.announced.get(task).cloned()
    }

    pub(super) fn find_signal(&self, target: &str, resume_id: &str) -> Option<SignalFound> {
        let number = *self.by_resume_id.get(&(target.to_owned(), resume_id.to_owned()))?;
        let kept = self.signals.get(&number)?;
        let expires_at = kept.payload.as_ref().map(|(_, until)| *until);
        Some(SignalFound { number, expires_at, digest: kept.digest })
    }

    pub(super) fn put_signal(&mut self, signal: SignalRow<'_>) {
        self.last_signal += 1;
        let kept = Kept {
            target: signal.target.to_owned(),
            resume_id: signal.resume_id.to_owned(),
            run: signal.run,
            digest: signal.digest,
            payload: signal.kept.map(|(payload, until)| (payload.clone(), until)),
        };
        let key = (kept.target.clone(), kept.resume_id.clone());
        self.by_resume_id.insert(key, self.last_signal);
        self.signals.insert(self.last_signal, kept);
    }

    pub(super) fn kept(&self, now: Timestamp, target: &str) -> Vec<i64> {
        let is_kept = |kept: &Kept| kept.payload.as_ref().is_some_and(|(_, until)| *until > now);
        let of_target = |kept: &Kept| kept.target == target && is_kept(kept);
        self.signals.iter().filter(|(_, kept)| of_target(kept)).map(|(number, _)| *number).collect()
    }

    pub(super) fn kept_payload(&self, signal: i64) -> Option<&Value> {
        self.signals.get(&signal)?.payload.as_ref().map(|(payload, _)| payload)
    }

    pub(super) fn use_signal(&mut self, signal: i64, run: RunId) {
        if let Some(kept) = self.signals.get_mut(&signal) {
            (kept.payload, kept.run) = (None, Some(run));
        }
    }

    pub(super) fn drop_signal(&mut self, signal: i64) {
        if let Some(kept) = self.signals.remove(&signal) {
            self.by_resume_id.remove(&(kept.target, kept.resume_id));
        }
    }

    pub(super) fn expire(&mut self, now: Timestamp, max: u32) -> u64 {
        let is_over =
            |kept: &Kept| kept.payload.as_ref().is_some_and(|(_, expires_at)| *expires_at <= now);
        let over = self.signals.iter().filter(|(_, kept)| is_over(kept)).take(max as usize);
        let over: Vec<_> = over.map(|(number, _)| *number).collect();
        for number in &over {
            self.drop_signal(*number);
        }
        over.len() as u64
    }

    /// Forgets what is of a run that neither waits nor is waited for.
    pub(super) fn delete_run(&mut self, run: RunId) {
        self.hooks.retain(|_, task| task.run != run);
        self.announced.retain(|task, _| task.run != run);
        let of_run = self.signals.iter().filter(|(_, kept)| kept.run == Some(run));
        for number in of_run.map(|(number, _)| *number).collect::<Vec<_>>() {
            self.drop_signal(number);
        }
    }

    pub(super) fn late(&self, until: Timestamp, max: u32) -> (u64, Option<Timestamp>) {
        let ends = self.waits.values().filter_map(|wait| wait.row.until);
        let late: Vec<_> = ends.filter(|at| *at <= until).collect();
        (late.len().min(max as usize) as u64, late.into_iter().min())
    }

    pub(super) fn list(&self, query: &WaitQuery) -> Vec<WaitRecord> {
        let is_asked = |wait: &&OpenWait| {
            let place = (wait.row.since, &wait.task);
            query.run.is_none_or(|run| wait.task.run == run)
                && query.token.as_ref().is_none_or(|token| wait.row.token.as_ref() == Some(token))
                && query.after.as_ref().is_none_or(|(since, task)| place > (*since, task))
        };
        let mut found: Vec<_> = self.waits.values().filter(is_asked).collect();
        found.sort_by_key(|wait| (wait.row.since, wait.task.clone()));
        found.into_iter().take(query.max as usize).map(record).collect()
    }
}

fn record(OpenWait { task, row, children }: &OpenWait) -> WaitRecord {
    let WaitRow { attempt, kind, since, until, token, .. } = row.clone();
    let children = children.iter().map(|child| child.on.clone());
    let on = WaitingFor::new(kind, token, children);
    WaitRecord { task: task.clone(), attempt, on, since, until }
}
