//! Schedules, in a turn.

use std::collections::BTreeMap;

use pgflow_machine::Timestamp;
use pgflow_machine::schedule::Schedule;

use super::session::MemorySession;
use crate::backend::{DueQuery, DueSchedules, ScheduleQuery};
use crate::store::{ScheduleSession, Stored};

/// All schedules, by name.
#[derive(Debug, Default)]
pub(super) struct ScheduleData(BTreeMap<String, Schedule>);

impl ScheduleData {
    fn list(&self, query: &ScheduleQuery) -> Vec<Schedule> {
        let ScheduleQuery { name, flow, after, max } = query;
        let is_asked = |schedule: &&Schedule| {
            name.as_ref().is_none_or(|name| schedule.name == *name)
                && flow.as_ref().is_none_or(|flow| schedule.spec.flow == *flow)
                && after.as_ref().is_none_or(|after| schedule.name > *after)
        };
        self.0.values().filter(is_asked).take(*max as usize).cloned().collect()
    }

    fn due(&self, query: &DueQuery, now: Timestamp) -> DueSchedules {
        let allowed = || self.0.values().filter(|schedule| query.allows(schedule));
        let mut schedules: Vec<_> = allowed().filter(|it| it.is_due(now)).cloned().collect();
        schedules.sort_by_key(|schedule| schedule.next_at);
        schedules.truncate(query.max as usize);
        let next_at = allowed().filter_map(|schedule| schedule.due_at(now)).min();
        DueSchedules { now, schedules, next_at }
    }

    /// When the next of them is due, if that is known; now, if a worker has to find it out.
    pub(super) fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let due = |schedule: &Schedule| {
            // What is queued waits for a run, not for time.
            let is_due = schedule.is_due(now) && schedule.queued.is_empty();
            if is_due { Some(now) } else { schedule.due_at(now) }
        };
        self.0.values().filter_map(due).min()
    }
}

impl ScheduleSession for MemorySession {
    async fn load_schedule(&mut self, name: &str) -> Stored<Option<Schedule>> {
        Ok(self.data().schedules.0.get(name).cloned())
    }

    async fn write_schedule(&mut self, schedule: &Schedule, _is_new: bool) -> Stored<()> {
        self.data().schedules.0.insert(schedule.name.clone(), schedule.clone());
        Ok(())
    }

    async fn delete_schedule(&mut self, name: &str) -> Stored<()> {
        self.data().schedules.0.remove(name);
        Ok(())
    }

    async fn list_schedules(&mut self, query: &ScheduleQuery) -> Stored<Vec<Schedule>> {
        Ok(self.data().schedules.list(query))
    }

    async fn due_schedules(&mut self, query: &DueQuery) -> Stored<DueSchedules> {
        let now = self.now;
        Ok(self.data().schedules.due(query, now))
    }
}
