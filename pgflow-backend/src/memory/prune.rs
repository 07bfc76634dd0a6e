//! Forgetting what is old.

use pgflow_machine::job::{Dependency, JobId};
use pgflow_machine::{RunId, Timestamp};

use super::data::Data;

impl Data {
    /// Forgets up to `max` runs that ended by then.
    pub(super) fn prune(&mut self, ended_by: Timestamp, max: u32) -> u64 {
        let ended: Vec<_> = self.prunable_runs(ended_by).take(max as usize).collect();
        for id in &ended {
            self.delete_run(*id);
        }
        ended.len() as u64
    }

    /// Runs that ended by then, and whose outputs no wait has still to read.
    pub(super) fn prunable_runs(&self, ended_by: Timestamp) -> impl Iterator<Item = RunId> {
        let is_old = move |id: &RunId| {
            let ended_at = self.runs.get(id).and_then(|run| run.ended_at);
            let is_old = ended_at.is_some_and(|ended_at| ended_at <= ended_by);
            is_old && !self.waits.is_read_later(&Dependency::Run(*id))
        };
        self.by_start.iter().map(|(_, id)| *id).filter(is_old)
    }

    /// Jobs that ended by then, and whose outputs no wait has still to read.
    pub(super) fn prunable_jobs(&self, ended_by: Timestamp) -> impl Iterator<Item = &JobId> {
        let is_free = |id: &&JobId| !self.waits.is_read_later(&Dependency::Job((*id).clone()));
        self.jobs.ended_by(ended_by).filter(is_free)
    }

    pub(super) fn delete_run(&mut self, id: RunId) {
        if let Some(run) = self.runs.remove(&id) {
            self.by_start.remove(&(run.started_at, id));
            self.open.remove(&id);
            self.streams.delete_run(id);
            self.waits.delete_run(id);
        }
    }
}
