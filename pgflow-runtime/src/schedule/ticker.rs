//! Starting what is due.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::schedule::{Fire, Fired, Given, Next, Origin, Schedule, ScheduleStatus};
use pgflow_machine::{Limits, Timestamp};
use pgflow_model::with_causes;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::declared::{Make, made};
use super::{Declared, Found};
use crate::FlowDef;
use crate::backend::{Backend, BackendError, DueQuery, Schedules};
use crate::worker::tidy;

/// Schedules that are looked at in one go.
const AT_ONCE: u32 = 100;

/// Starts what is due, with inputs that the flows of this program make.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ticker {
    flows: Arc<Declared>,
    limits: Arc<OnceCell<Limits>>,
}

impl Ticker {
    /// For a worker that serves these flows.
    pub(crate) fn new(flows: impl IntoIterator<Item = &'static FlowDef>) -> Self {
        let declared = Declared::default();
        flows.into_iter().for_each(|flow| declared.learn(flow));
        Self::of(Arc::new(declared))
    }

    /// For a program that has these flows.
    pub(crate) fn of(flows: Arc<Declared>) -> Self {
        Self { flows, limits: Arc::default() }
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
            match self.advance(backend, schedule, due.now).await {
                Ok(found) => {
                    has_come |= schedule.status == ScheduleStatus::Pending
                        || schedule.next_at.is_some_and(|next_at| next_at <= due.now);
                    next_at = next_at.into_iter().chain(found).min();
                }
                Err(error) if concerns_all(&error) => return Err(error),
                // The others are not to wait for one that nothing can be done for.
                Err(error) => note(schedules, schedule, &error).await,
            }
        }
        // Those that only wait for their last runs to end are no reason to look again at once.
        let is_full = due.schedules.len() == AT_ONCE as usize && has_come;
        let next_in = next_at.map(|next_at| due.now.saturating_until(next_at));
        Ok(if is_full { Some(Duration::ZERO) } else { next_in })
    }

    /// Starts what is due of one, and says when it is due again.
    pub(crate) async fn advance(
        &self,
        backend: &dyn Backend,
        schedule: &Schedule,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, BackendError> {
        let mut found = Found::new(schedule, now);
        let maker = self.flows.maker(schedule);
        if maker.is_none() && schedule.spec.origin == Origin::Source {
            // What its runs are given is made by those who have the flow.
            if !schedule.queued.is_empty() {
                return Ok(None);
            }
            found = found.left_to_others();
        }
        let has_work = found.is_due() || !schedule.queued.is_empty();
        let input = match maker.filter(|_| has_work) {
            Some((flow, make)) => Some(self.input(backend, schedule, flow, make).await?),
            None => None,
        };
        let given = match &input {
            None => Given::Stored,
            Some(Ok(input)) => Given::Made(input),
            Some(Err(why)) => Given::Nothing(why),
        };
        let fired = backend.schedules()?.fire_schedule(&found.fire(schedule, given)).await?;
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

    /// What a run is given that the flow's source makes, or why there is nothing.
    async fn input(
        &self,
        backend: &dyn Backend,
        schedule: &Schedule,
        flow: &FlowDef,
        make: Make,
    ) -> Result<Result<Value, String>, BackendError> {
        let limits = self.limits.get_or_try_init(|| backend.limits()).await?;
        let input = made(flow, make, limits);
        if let Err(why) = &input {
            tracing::error!(schedule = schedule.name, "{why}");
        }
        Ok(input)
    }
}

/// Whether there is no point in going on with the next schedule.
fn concerns_all(error: &BackendError) -> bool {
    matches!(error, BackendError::Unreachable(_) | BackendError::Closed)
}

/// Says in a schedule's row why nothing could be done for it. Its moments are still to come: whoever mends it loses none.
async fn note(schedules: &dyn Schedules, schedule: &Schedule, error: &BackendError) {
    let why = tidy(&with_causes(error));
    tracing::error!(schedule = schedule.name, "a schedule could not be fired: {why}");
    // What passes is not worth a word.
    if !error.is_temporary() {
        say(schedules, schedule, &why).await;
    }
}

/// Says in a schedule's row what is wrong, and changes nothing else.
pub(super) async fn say(schedules: &dyn Schedules, schedule: &Schedule, why: &str) {
    let next = schedule.next_at.map_or(Next::Never, Next::At);
    let (name, revision, due) = (&schedule.name, schedule.revision, &[]);
    // One whose next moment nobody knows would be over, and one that waits in line would lose its place.
    if schedule.status == ScheduleStatus::Active && schedule.queued.is_empty() {
        let fire = Fire { name, revision, due, next: &next, input: Given::Nothing(why) };
        if let Err(error) = schedules.fire_schedule(&fire).await {
            tracing::error!(%error, schedule = schedule.name, "its row cannot say what is wrong");
        }
    }
}
