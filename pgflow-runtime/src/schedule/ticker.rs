//! Starting what is due.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_machine::schedule::{Fired, Schedule, ScheduleStatus};
use serde_json::Value;

use super::{Declared, Found};
use crate::FlowDef;
use crate::backend::{Backend, BackendError, DueQuery, Schedules};

/// Schedules that are looked at in one go.
const AT_ONCE: u32 = 100;

/// Starts what is due, with inputs that the flows of this program make.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ticker {
    flows: Arc<Declared>,
}

impl Ticker {
    /// For a worker that serves these flows.
    pub(crate) fn new(flows: impl IntoIterator<Item = &'static FlowDef>) -> Self {
        let declared = Declared::default();
        flows.into_iter().for_each(|flow| declared.learn(flow));
        Self { flows: Arc::new(declared) }
    }

    /// Starts what is due, and says how long it is until something is due again, if that is known.
    pub(crate) async fn tick(
        &self,
        backend: &dyn Backend,
    ) -> Result<Option<Duration>, BackendError> {
        let schedules = backend.schedules()?;
        let flows = self.flows.names();
        let due = schedules.due_schedules(&DueQuery { flows, max: AT_ONCE }).await?;
        let (mut next_at, mut has_come) = (due.next_at, false);
        for schedule in &due.schedules {
            has_come |= schedule.status == ScheduleStatus::Pending
                || schedule.next_at.is_some_and(|next_at| next_at <= due.now);
            let found = self.advance(schedules, schedule, due.now).await?;
            next_at = next_at.into_iter().chain(found).min();
        }
        // Those that only wait for their last runs to end are no reason to look again at once.
        let is_full = due.schedules.len() == AT_ONCE as usize && has_come;
        let next_in = next_at.map(|next_at| due.now.saturating_until(next_at));
        Ok(if is_full { Some(Duration::ZERO) } else { next_in })
    }

    /// Starts what is due of one, and says when it is due again.
    pub(crate) async fn advance(
        &self,
        schedules: &dyn Schedules,
        schedule: &Schedule,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, BackendError> {
        let found = Found::new(schedule, now);
        let input = self.input(schedule);
        let fired = schedules.fire_schedule(&found.fire(schedule, input.as_ref())).await?;
        if let Fired::Fired { started, skipped } = &fired {
            for run in started {
                tracing::info!(schedule = schedule.name, run.id = %run, "schedule started a run");
            }
            if *skipped > 0 {
                tracing::warn!(
                    schedule = schedule.name,
                    skipped,
                    "moments of a schedule started no run"
                );
            }
        }
        Ok(found.next_at())
    }

    /// What a run is given, if the flow's source makes it.
    fn input(&self, schedule: &Schedule) -> Option<Value> {
        let (_, make) = self.flows.maker(schedule)?;
        let note = |error: &_| tracing::error!(%error, schedule = schedule.name, "no input for a run: the last one is used");
        make().inspect_err(note).ok()
    }
}
