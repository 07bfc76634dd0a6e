//! Waits: rows in, rows out.

mod check;
pub(super) mod children;
mod hooks;
mod read;
mod rows;
mod signal_in;
mod signals;

use pgflow_machine::job::Dependency;
use pgflow_machine::wait::{Child, ChildEnd, Glance, HookToken, WaitRow};
use pgflow_machine::{RunId, TaskKey, Ties, Timestamp, Version};
use serde_json::Value;

pub(super) use check::INVARIANTS;
pub use signal_in::signal_in;

use crate::session::{Conn, SqliteSession};
use pgflow_backend::backend::{WaitQuery, WaitRecord};
use pgflow_backend::store::{
    OpenWait, Orphan, SignalFound, SignalRow, Stored, WaitSession, WaitsOf,
};

impl<C: Conn> WaitSession for SqliteSession<C> {
    async fn open_waits(&mut self, waits: &[OpenWait]) -> Stored<()> {
        Ok(rows::open(self, waits).await?)
    }

    async fn load_wait(&mut self, task: &TaskKey) -> Stored<Option<WaitRow>> {
        Ok(rows::load(self, task).await?)
    }

    async fn load_children(&mut self, task: &TaskKey, attempt: u32) -> Stored<Vec<Child>> {
        Ok(children::of(self, task, attempt).await?)
    }

    async fn glance(&mut self, task: &TaskKey, attempt: u32) -> Stored<Glance> {
        Ok(children::glance(self, task, attempt).await?)
    }

    async fn close_waits(&mut self, of: WaitsOf<'_>, reason: &str) -> Stored<u64> {
        Ok(rows::close(self, of, reason).await?)
    }

    async fn due_waits(&mut self, max: u32) -> Stored<Vec<TaskKey>> {
        Ok(read::due(self, max).await?)
    }

    async fn next_wait(&mut self) -> Stored<Option<Timestamp>> {
        Ok(read::next(self).await?)
    }

    async fn note_ends(&mut self, ends: &[(Dependency, ChildEnd)]) -> Stored<u64> {
        Ok(children::note_ends(self, ends).await?)
    }

    async fn replace_ends(&mut self, ends: &[(Dependency, ChildEnd)]) -> Stored<()> {
        Ok(children::replace_ends(self, ends).await?)
    }

    async fn tied_runs(&mut self, version: &Version) -> Stored<Vec<(RunId, Ties)>> {
        Ok(children::tied_runs(self, version).await?)
    }

    async fn mark_seen(&mut self, task: &TaskKey) -> Stored<()> {
        Ok(children::mark_seen(self, task).await?)
    }

    async fn orphans(&mut self, max: u32) -> Stored<Vec<Orphan>> {
        Ok(children::orphans(self, max).await?)
    }

    async fn is_awaited(&mut self, child: &Dependency) -> Stored<bool> {
        Ok(children::is_awaited(self, child).await?)
    }

    async fn forget_orphan(&mut self, child: &Dependency) -> Stored<()> {
        Ok(children::forget(self, child).await?)
    }

    async fn find_hook(&mut self, token: &HookToken) -> Stored<Option<TaskKey>> {
        Ok(hooks::find(self, token).await?)
    }

    async fn lock_hook(&mut self, token: &HookToken) -> Stored<Option<TaskKey>> {
        // Whoever writes is alone.
        Ok(hooks::find(self, token).await?)
    }

    async fn set_hook(&mut self, token: &HookToken, task: &TaskKey) -> Stored<()> {
        Ok(hooks::set(self, token, task).await?)
    }

    async fn announced(&mut self, task: &TaskKey) -> Stored<Option<HookToken>> {
        Ok(hooks::announced(self, task).await?)
    }

    async fn find_signal(&mut self, target: &str, resume_id: &str) -> Stored<Option<SignalFound>> {
        Ok(signals::find(self, target, resume_id).await?)
    }

    async fn put_signal(&mut self, signal: SignalRow<'_>) -> Stored<()> {
        Ok(signals::put(self, signal).await?)
    }

    async fn kept_signals(&mut self, target: &str) -> Stored<Vec<i64>> {
        Ok(signals::kept(self, target).await?)
    }

    async fn kept_payload(&mut self, signal: i64) -> Stored<Value> {
        Ok(signals::payload(self, signal).await?)
    }

    async fn use_signal(&mut self, signal: i64, run: RunId) -> Stored<()> {
        Ok(signals::take(self, signal, run).await?)
    }

    async fn drop_signal(&mut self, signal: i64) -> Stored<()> {
        Ok(signals::drop(self, signal).await?)
    }

    async fn expire_signals(&mut self, max: u32) -> Stored<u64> {
        Ok(signals::expire(self, max).await?)
    }

    async fn late_waits(&mut self, until: Timestamp, max: u32) -> Stored<(u64, Option<Timestamp>)> {
        Ok(read::late(self, until, max).await?)
    }

    async fn list_waits(&mut self, query: &WaitQuery) -> Stored<Vec<WaitRecord>> {
        Ok(read::list(self, query).await?)
    }
}
