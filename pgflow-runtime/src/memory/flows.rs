//! Versions of flows.

use std::sync::Arc;

use pgflow_machine::{Plan, StepStatus, Timestamp};
use pgflow_model::{Edit, FlowShape, Part, changes};

use super::queue::Queue;
use super::run::Run;
use super::store::Store;
use crate::backend::{BackendError, Ensured, FlowVersion, KnownVersion};

#[derive(Debug)]
pub(super) struct Version {
    pub(super) flow: String,
    pub(super) number: u32,
    pub(super) plan: Plan,
    shape: FlowShape,
}

impl Store {
    pub(super) fn ensure_flow(&mut self, version: &FlowVersion) -> Result<Ensured, BackendError> {
        if let Some(there) = self.versions.get(&version.slug) {
            let differences = differences(&there.shape, &version.shape);
            let is_same = differences.is_empty();
            return Ok(if is_same { Ensured::Same } else { Ensured::Conflict(differences) });
        }
        let mut shape = version.shape.clone();
        // The name of the queue, whatever name the shape was written under.
        shape.slug.clone_from(&version.slug);
        let plan = Plan::new(&shape).map_err(|error| BackendError::Refused(error.into()))?;
        self.queues.insert(Arc::clone(plan.slug()), Queue::new(plan.steps().len()));
        let (flow, number) = (version.flow.clone(), version.version);
        let new = Version { flow, number, plan, shape };
        self.versions.insert(version.slug.clone(), Arc::new(new));
        Ok(Ensured::Created)
    }

    /// The version that new runs of a flow use.
    pub(super) fn current(&self, flow: &str) -> Option<&Arc<Version>> {
        let versions = self.versions.values().filter(|version| version.flow == flow);
        versions.max_by_key(|version| version.number).or_else(|| self.versions.get(flow))
    }

    pub(super) fn versions(&self, flows: &[&str]) -> Vec<KnownVersion> {
        let is_asked = |version: &&Arc<Version>| flows.contains(&&*version.flow);
        let mut known: Vec<_> =
            self.versions.values().filter(is_asked).map(|version| self.known(version)).collect();
        known.sort_by(|a, b| (&a.flow, a.version).cmp(&(&b.flow, b.version)));
        known
    }

    fn known(&self, version: &Arc<Version>) -> KnownVersion {
        let of_version = |run: &&Run| Arc::ptr_eq(&run.version, version);
        let open = self.open.iter().filter_map(|id| self.runs.get(id)).filter(of_version);
        let (mut open_runs, mut open_tasks, mut oldest) = (0, 0, None::<Timestamp>);
        for run in open {
            open_runs += 1;
            for step in started(run) {
                open_tasks += u64::from(run.state.steps[step].remaining_tasks.unwrap_or(0));
                let queued_at = run.tasks[step].iter().map(|task| task.queued_at).min();
                oldest = oldest.into_iter().chain(queued_at).min();
            }
        }
        let now = self.clock.now();
        KnownVersion {
            flow: version.flow.clone(),
            version: version.number,
            slug: version.plan.slug().to_string(),
            is_current: self.current(&version.flow).is_some_and(|it| Arc::ptr_eq(it, version)),
            open_runs,
            open_tasks,
            oldest: oldest.map(|oldest| oldest.saturating_until(now)),
        }
    }
}

fn started(run: &Run) -> impl Iterator<Item = usize> {
    let is_started = |step: &usize| run.state.steps[*step].status == StepStatus::Started;
    (0..run.tasks.len()).filter(is_started)
}

/// What is not the same graph, a sentence each. Options and types of Rust are not compared.
fn differences(there: &FlowShape, given: &FlowShape) -> Vec<String> {
    let sentence = |change: pgflow_model::Change| {
        let step = change.step.unwrap_or_default();
        Some(match change.edit {
            Edit::Added => format!("step `{step}` is not in the database"),
            Edit::Removed => format!("step `{step}` is in the database only"),
            Edit::Changed { part: Part::Setting(_) | Part::Type, .. } => return None,
            Edit::Changed { part, before, now } => {
                let (before, now) = (before.unwrap_or_default(), now.unwrap_or_default());
                format!(
                    "step `{step}` has another {}: `{before}` in the database, `{now}` here",
                    part.name()
                )
            }
            _ => format!("step `{step}` has another name in the database"),
        })
    };
    changes(there, given).into_iter().filter_map(sentence).collect()
}
