//! Versions of flows.

use std::sync::Arc;

use pgflow_machine::{FlowVersion, StepStatus, Version};
use pgflow_model::FlowShape;

use super::data::Data;
use super::queue::Queue;
use crate::backend::BackendError;
use crate::store::OpenWork;

impl Data {
    pub(super) fn insert_version(&mut self, version: &FlowVersion) -> Result<(), BackendError> {
        let id = self.last_version + 1;
        let new = Version::new(id, version.clone(), None)
            .map_err(|error| BackendError::Refused(error.into()))?;
        self.last_version = id;
        self.queues.insert(id, Queue::new(new.plan.steps().len()));
        Arc::make_mut(&mut self.catalog).insert(new);
        Ok(())
    }

    pub(super) fn set_shape(
        &mut self,
        version: &Version,
        shape: &FlowShape,
    ) -> Result<(), BackendError> {
        let changed = FlowVersion {
            flow: version.flow.clone(),
            version: version.number,
            slug: version.slug().to_string(),
            shape: shape.clone(),
        };
        let changed = Version::new(version.id, changed, version.interface.clone())
            .map_err(|error| BackendError::Refused(error.into()))?;
        self.replace_version(changed);
        Ok(())
    }

    pub(super) fn set_interface(&mut self, version: &Version, interface: &str) {
        let interface = Some(interface.to_owned());
        self.replace_version(Version { interface, ..version.clone() });
    }

    fn replace_version(&mut self, version: Version) {
        let id = version.id;
        Arc::make_mut(&mut self.catalog).insert(version);
        let Some(version) = self.catalog.by_id(id) else { return };
        for run in self.runs.values_mut().filter(|run| run.version.id == id) {
            run.version = Arc::clone(version);
        }
    }

    pub(super) fn delete_version(&mut self, version: &Version) {
        let of_version = self.runs.iter().filter(|(_, run)| run.version.id == version.id);
        for id in of_version.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.delete_run(id);
        }
        self.leases.retain(|(_, at)| self.runs.contains_key(&at.run));
        self.queues.remove(&version.id);
        Arc::make_mut(&mut self.catalog).remove(version.id);
    }

    pub(super) fn open_work(&self, version: &Version) -> OpenWork {
        let mut open = OpenWork::default();
        let runs = self.open.iter().filter_map(|id| self.runs.get(id));
        for run in runs.filter(|run| run.version.id == version.id) {
            open.runs += 1;
            let steps = run.state.steps.iter().zip(&run.steps);
            for (state, data) in steps.filter(|(state, _)| state.status == StepStatus::Started) {
                open.tasks += u64::from(state.remaining_tasks.unwrap_or(0));
                open.since = open.since.into_iter().chain(data.started_at).min();
            }
        }
        open
    }
}
