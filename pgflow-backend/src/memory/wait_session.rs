//! Waits, in a turn.

use pgflow_machine::job::Dependency;
use pgflow_machine::wait::{Child, ChildEnd, Glance, HookToken, WaitRow};
use pgflow_machine::{RunId, TaskKey, Ties, Timestamp, Version};
use serde_json::Value;

use super::session::MemorySession;
use crate::backend::{WaitQuery, WaitRecord};
use crate::store::{OpenWait, Orphan, SignalFound, SignalRow, Stored, WaitSession, WaitsOf};

impl WaitSession for MemorySession {
    async fn open_waits(&mut self, waits: &[OpenWait]) -> Stored<()> {
        let mut data = self.data();
        for wait in waits {
            data.waits.open(wait);
            if let Some(run) = data.runs.get_mut(&wait.task.run) {
                run.ties.waits = true;
            }
            for child in &wait.children {
                let Dependency::Run(child) = &child.on else { continue };
                if let Some(run) = data.runs.get_mut(child) {
                    run.ties.awaited = true;
                }
            }
        }
        Ok(())
    }

    async fn load_wait(&mut self, task: &TaskKey) -> Stored<Option<WaitRow>> {
        Ok(self.data().waits.get(task).map(|wait| wait.row.clone()))
    }

    async fn load_children(&mut self, task: &TaskKey, _: u32) -> Stored<Vec<Child>> {
        Ok(self.data().waits.get(task).map(|wait| wait.children.clone()).unwrap_or_default())
    }

    async fn glance(&mut self, task: &TaskKey, _: u32) -> Stored<Glance> {
        Ok(self.data().waits.get(task).map(|wait| Glance::at(&wait.children)).unwrap_or_default())
    }

    async fn close_waits(&mut self, of: WaitsOf<'_>, reason: &str) -> Stored<u64> {
        Ok(self.data().waits.close(of, reason))
    }

    async fn due_waits(&mut self, max: u32) -> Stored<Vec<TaskKey>> {
        Ok(self.data().waits.due(self.now, max))
    }

    async fn next_wait(&mut self) -> Stored<Option<Timestamp>> {
        Ok(self.data().waits.next(self.now))
    }

    async fn note_ends(&mut self, ends: &[(Dependency, ChildEnd)]) -> Stored<u64> {
        let mut data = self.data();
        Ok(ends.iter().map(|(child, end)| data.waits.note_end(child, end, false)).sum())
    }

    async fn replace_ends(&mut self, ends: &[(Dependency, ChildEnd)]) -> Stored<()> {
        let mut data = self.data();
        for (child, end) in ends {
            data.waits.note_end(child, end, true);
        }
        Ok(())
    }

    async fn tied_runs(&mut self, version: &Version) -> Stored<Vec<(RunId, Ties)>> {
        let data = self.data();
        let of_version = data.runs.iter().filter(|(_, run)| run.version.id == version.id);
        let tied = of_version.map(|(id, run)| {
            (*id, Ties { waits: data.waits.has_waits(*id), awaited: run.ties.awaited })
        });
        Ok(tied.filter(|(_, ties)| ties.waits || ties.awaited).collect())
    }

    async fn mark_seen(&mut self, task: &TaskKey) -> Stored<()> {
        self.data().waits.mark_seen(task);
        Ok(())
    }

    async fn orphans(&mut self, max: u32) -> Stored<Vec<Orphan>> {
        Ok(self.data().waits.orphans(max))
    }

    async fn is_awaited(&mut self, child: &Dependency) -> Stored<bool> {
        Ok(self.data().waits.is_awaited(child))
    }

    async fn forget_orphan(&mut self, child: &Dependency) -> Stored<()> {
        self.data().waits.forget_orphan(child);
        Ok(())
    }

    async fn find_hook(&mut self, token: &HookToken) -> Stored<Option<TaskKey>> {
        Ok(self.data().waits.hook(token))
    }

    async fn lock_hook(&mut self, token: &HookToken) -> Stored<Option<TaskKey>> {
        Ok(self.data().waits.hook(token))
    }

    async fn set_hook(&mut self, token: &HookToken, task: &TaskKey) -> Stored<()> {
        self.data().waits.set_hook(token, task);
        Ok(())
    }

    async fn announced(&mut self, task: &TaskKey) -> Stored<Option<HookToken>> {
        Ok(self.data().waits.announced(task))
    }

    async fn find_signal(&mut self, target: &str, resume_id: &str) -> Stored<Option<SignalFound>> {
        Ok(self.data().waits.find_signal(target, resume_id))
    }

    async fn put_signal(&mut self, signal: SignalRow<'_>) -> Stored<()> {
        self.data().waits.put_signal(signal);
        Ok(())
    }

    async fn kept_signals(&mut self, target: &str) -> Stored<Vec<i64>> {
        Ok(self.data().waits.kept(self.now, target))
    }

    async fn kept_payload(&mut self, signal: i64) -> Stored<Value> {
        Ok(self.data().waits.kept_payload(signal).cloned().unwrap_or_default())
    }

    async fn use_signal(&mut self, signal: i64, run: RunId) -> Stored<()> {
        self.data().waits.use_signal(signal, run);
        Ok(())
    }

    async fn drop_signal(&mut self, signal: i64) -> Stored<()> {
        self.data().waits.drop_signal(signal);
        Ok(())
    }

    async fn expire_signals(&mut self, max: u32) -> Stored<u64> {
        Ok(self.data().waits.expire(self.now, max))
    }

    async fn late_waits(&mut self, until: Timestamp, max: u32) -> Stored<(u64, Option<Timestamp>)> {
        Ok(self.data().waits.late(until, max))
    }

    async fn list_waits(&mut self, query: &WaitQuery) -> Stored<Vec<WaitRecord>> {
        Ok(self.data().waits.list(query))
    }
}
