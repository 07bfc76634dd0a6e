//! A transaction, which is a turn: nothing is undone, because nothing fails once it is written.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, MutexGuard};

use pgflow_machine::{
    Candidate, Catalog, FlowVersion, Lane, Needs, Payload, Ready, Rows, RunId, TaskKey, TaskLease,
    TaskRef, Timestamp, Version, WorkerId, Writes,
};
use pgflow_model::FlowShape;
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;

use super::Shared;
use super::data::Data;
use super::run::Run;
use crate::backend::{Parts, RunQuery, RunRecord, RunSummary};
use crate::store::{Logged, OpenWork, Session, Stored, Take, Taken};
use pgflow_model::FlowMigration;

/// A turn with what is kept.
#[derive(Debug)]
pub struct MemorySession {
    shared: Arc<Shared>,
    pub(super) now: Timestamp,
    catalog: Arc<Catalog>,
    _turn: OwnedMutexGuard<()>,
}

impl MemorySession {
    pub(super) async fn begin(shared: &Arc<Shared>) -> Self {
        let turn = Arc::clone(&shared.turn).lock_owned().await;
        let data = shared.data();
        let (now, catalog) = (data.clock.now(), Arc::clone(&data.catalog));
        drop(data);
        Self { shared: Arc::clone(shared), now, catalog, _turn: turn }
    }

    pub(super) fn data(&self) -> MutexGuard<'_, Data> {
        self.shared.data()
    }

    /// Changes definitions.
    fn define<T>(&mut self, change: impl FnOnce(&mut Data) -> T) -> T {
        let mut data = self.shared.data();
        let result = change(&mut data);
        self.catalog = Arc::clone(&data.catalog);
        result
    }
}

impl Session for MemorySession {
    type Task = TaskRef;

    fn now(&self) -> Timestamp {
        self.now
    }

    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    async fn load(&mut self, needs: &Needs, rows: &mut Rows) -> Stored<()> {
        self.data().load(needs, rows);
        Ok(())
    }

    async fn payloads(
        &mut self,
        wanted: &[(RunId, Payload)],
    ) -> Stored<HashMap<(RunId, Payload), Value>> {
        let data = self.data();
        let found = wanted.iter().filter_map(|(run, payload)| {
            let value = data.runs.get(run)?.payload(*payload)?;
            Some(((*run, *payload), value.clone()))
        });
        Ok(found.collect())
    }

    async fn weights(&mut self, run: RunId) -> Stored<HashMap<Payload, usize>> {
        Ok(self.data().runs.get(&run).map(Run::weights).unwrap_or_default())
    }

    async fn write(&mut self, rows: &Rows, writes: Writes<'_>) -> Stored<()> {
        self.data().write(self.now, rows, writes);
        Ok(())
    }

    async fn drop_task_holds(&mut self, attempts: &[(TaskRef, u32)]) -> Stored<BTreeSet<String>> {
        Ok(self.data().drop_task_holds(attempts))
    }

    async fn ready(&mut self, lanes: &[Lane], max: u32) -> Stored<Vec<Ready<Candidate<TaskRef>>>> {
        Ok(self.data().ready(self.now, lanes, max))
    }

    async fn make_way(&mut self, lanes: &[&Lane], max: u32) -> Stored<()> {
        self.data().make_way(self.now, lanes, max);
        Ok(())
    }

    async fn next_ready(
        &mut self,
        lanes: &[Lane],
        after: Option<Timestamp>,
    ) -> Stored<Option<Timestamp>> {
        Ok(self.data().next_ready(lanes, after))
    }

    async fn take(&mut self, worker: WorkerId, tasks: &[Take<TaskRef>]) -> Stored<Vec<Taken>> {
        let mut data = self.data();
        Ok(tasks.iter().filter_map(|task| data.take((worker, self.now), *task)).collect())
    }

    async fn lost(&mut self, max: u32) -> Stored<Vec<TaskKey>> {
        Ok(self.data().lost(self.now, max))
    }

    async fn held(&mut self, worker: WorkerId, queues: &[Arc<Version>]) -> Stored<Vec<TaskLease>> {
        Ok(self.data().held(worker, queues))
    }

    async fn hasten(&mut self, queues: &[Arc<Version>]) -> Stored<u64> {
        Ok(self.data().hasten(self.now, queues))
    }

    async fn prune(&mut self, ended_by: Timestamp, max: u32) -> Stored<u64> {
        Ok(self.data().prune(ended_by, max))
    }

    async fn record(&mut self, run: RunId, parts: Parts) -> Stored<Option<RunRecord>> {
        Ok(self.data().record(run, parts))
    }

    async fn list(&mut self, query: &RunQuery) -> Stored<Vec<RunSummary>> {
        Ok(self.data().list(query))
    }

    async fn statuses(&mut self, runs: &[RunId]) -> Stored<Vec<RunSummary>> {
        Ok(self.data().statuses(runs))
    }

    async fn log(&mut self, run: RunId, after: u64, max: u32) -> Stored<Option<Logged>> {
        Ok(self.data().log(run, after, max))
    }

    async fn outputs(
        &mut self,
        run: RunId,
        step: &str,
        first: u32,
        bytes: u32,
    ) -> Stored<Vec<Value>> {
        Ok(self.data().outputs(run, step, first, bytes))
    }

    async fn open_work(&mut self, version: &Version) -> Stored<OpenWork> {
        Ok(self.data().open_work(version))
    }

    async fn insert_version(&mut self, version: &FlowVersion) -> Stored<()> {
        self.define(|data| data.insert_version(version))
    }

    async fn set_shape(&mut self, version: &Version, shape: &FlowShape) -> Stored<()> {
        self.define(|data| data.set_shape(version, shape))
    }

    async fn set_interface(&mut self, version: &Version, interface: &str) -> Stored<()> {
        self.define(|data| data.set_interface(version, interface));
        Ok(())
    }

    async fn delete_version(&mut self, version: &Version) -> Stored<()> {
        self.define(|data| data.delete_version(version));
        Ok(())
    }

    async fn applied(&mut self, package: &str, name: &str) -> Stored<Option<String>> {
        let key = (package.to_owned(), name.to_owned());
        Ok(self.data().applied.get(&key).cloned())
    }

    async fn record_applied(&mut self, package: &str, file: &FlowMigration) -> Stored<()> {
        let key = (package.to_owned(), file.name.to_owned());
        self.data().applied.insert(key, file.checksum.to_owned());
        Ok(())
    }
}
