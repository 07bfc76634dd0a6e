//! How long a task is held.

use std::time::Duration;

use crate::{PlanStep, Timestamp};

/// What a lease lasts longer than the step's timeout, and what a heartbeat may be late.
pub const GRACE: Duration = Duration::from_secs(2);

/// How often a task may be lost and queued again. One more, and its step ends.
pub const MAX_REQUEUES: u32 = 3;

/// Until when a heartbeat at `now` promises that the task is worked on.
pub fn promise(now: Timestamp, step: &PlanStep) -> Timestamp {
    now + Duration::from_secs(step.timeout.into()) + GRACE
}

/// When a held task counts as lost, if `now` is later than that.
///
/// ```
/// use pgflow_machine::{Plan, Timestamp, lost_after};
/// use pgflow_model::{FlowShape, StepShape};
///
/// let mut flow = FlowShape::new("orders");
/// flow.steps = vec![StepShape::new("pay")];
/// let plan = Plan::new(&flow)?;
/// let second = |n: i64| Timestamp::from_micros(n * 1_000_000);
/// assert_eq!(lost_after(second(0), None, plan.step(0)), second(62));
/// assert_eq!(lost_after(second(0), Some(second(10)), plan.step(0)), second(62));
/// assert_eq!(lost_after(second(0), Some(second(100)), plan.step(0)), second(102));
/// # Ok::<(), pgflow_machine::InvalidShape>(())
/// ```
pub fn lost_after(
    started_at: Timestamp,
    promised: Option<Timestamp>,
    step: &PlanStep,
) -> Timestamp {
    let by_start = promise(started_at, step);
    promised.map_or(by_start, |until| by_start.max(until + GRACE))
}

/// How long an attempt may still be worked on after its step, or its run, has ended, if nothing is heard of it: no lease that it was
/// given before lasts longer. Until then it holds what its step holds.
///
/// ```
/// use std::time::Duration;
///
/// use pgflow_machine::{Plan, outlives};
/// use pgflow_model::{FlowShape, StepShape};
///
/// let mut flow = FlowShape::new("orders");
/// flow.steps = vec![StepShape::new("pay")];
/// let plan = Plan::new(&flow)?;
/// assert_eq!(outlives(plan.step(0)), Duration::from_secs(64));
/// # Ok::<(), pgflow_machine::InvalidShape>(())
/// ```
pub fn outlives(step: &PlanStep) -> Duration {
    Duration::from_secs(step.timeout.into()) + 2 * GRACE
}

/// When a held task counts as lost after a heartbeat at `now`, if it did at `before`: never earlier.
pub(super) fn extended(now: Timestamp, before: Option<Timestamp>, step: &PlanStep) -> Timestamp {
    let promised = promise(now, step) + GRACE;
    before.map_or(promised, |before| before.max(promised))
}

/// What a step says that ended because a task was lost too often.
pub fn stalled_error(index: u32, requeues: u32) -> String {
    format!("stalled: task {index} was lost by its worker {} times", requeues + 1)
}
