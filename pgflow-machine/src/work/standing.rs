//! Rules for single tasks: which attempt may settle them, and what a failure leads to.

use std::time::Duration;

use crate::{Beat, PlanStep, Retry, RunStatus, Settled, StepStatus, TaskStatus};

/// What decides about a settle or heartbeat: the task's row, and the statuses of its step and run.
///
/// ```
/// use pgflow_machine::{RunStatus, Settled, Standing, StepStatus, TaskStatus};
///
/// let held = Standing {
///     run: RunStatus::Started,
///     step: StepStatus::Started,
///     task: TaskStatus::Started,
///     attempts: 2,
/// };
/// assert!(held.applies(2));
/// assert!(!held.applies(1));
/// assert_eq!(held.refusal(1), Settled::Fenced);
/// let done = Standing { task: TaskStatus::Completed, step: StepStatus::Completed, ..held };
/// assert_eq!(done.refusal(2), Settled::AlreadySettled);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What the run is.
    pub run: RunStatus,
    /// What the step is.
    pub step: StepStatus,
    /// What the task is.
    pub task: TaskStatus,
    /// How often it was claimed.
    pub attempts: u32,
}

impl Standing {
    /// Whether what is said with this attempt takes effect.
    pub fn applies(self, attempt: u32) -> bool {
        self.run == RunStatus::Started && self.step == StepStatus::Started && self.is_held(attempt)
    }

    /// Whether the wait that this attempt began is open.
    pub(crate) fn waits(self, attempt: u32) -> bool {
        let is_live = self.run == RunStatus::Started && self.step == StepStatus::Started;
        is_live && self.task == TaskStatus::Waiting && attempt == self.attempts
    }

    /// Whether a failure said with this attempt ends the task's row although the run has ended already: it is
    /// `failed`, with the error, and nothing else follows. The outcome is [`RunEnded`](Settled::RunEnded).
    pub fn fails_quietly(self, attempt: u32) -> bool {
        self.has_run_ended() && self.is_held(attempt)
    }

    /// What a settle that did not take effect is told. Look at the state *after* the batch it came with.
    pub fn refusal(self, attempt: u32) -> Settled {
        match self.task {
            TaskStatus::Completed if attempt == self.attempts => Settled::AlreadySettled,
            _ if self.has_run_ended() => Settled::RunEnded,
            TaskStatus::Queued => Settled::Fenced,
            _ if attempt != self.attempts => Settled::Fenced,
            TaskStatus::Started if self.step == StepStatus::Started => Settled::Fenced,
            _ => Settled::AlreadySettled,
        }
    }

    /// What a heartbeat is told. One for a task that does not exist is [`Lost`](Beat::Lost), unless the run and
    /// the step exist and the run has failed or was cancelled.
    pub fn beat(self, attempt: u32) -> Beat {
        if self.has_run_ended() {
            Beat::Cancelled
        } else if self.applies(attempt) {
            Beat::Extended
        } else {
            Beat::Lost
        }
    }

    /// Whether this attempt has its task, but nothing that is said with it takes effect, because the step or the run has ended.
    pub(crate) fn outlived(self, attempt: u32) -> bool {
        self.is_held(attempt) && !self.applies(attempt)
    }

    fn is_held(self, attempt: u32) -> bool {
        self.task == TaskStatus::Started && attempt == self.attempts
    }

    fn has_run_ended(self) -> bool {
        matches!(self.run, RunStatus::Failed | RunStatus::Cancelled)
    }
}

/// The longest delay that the policy leads to, in seconds: past a day a retry is a surprise, not a help.
pub(crate) const MAX_DELAY: u64 = 86_400;

/// In how many seconds a task that failed is tried again; nothing if its step is exhausted. `counted` is the
/// number of its attempts so far without those that were given back.
///
/// ```
/// use pgflow_machine::{Plan, Retry, retry_delay};
/// use pgflow_model::{FlowShape, StepShape};
///
/// let mut flow = FlowShape::new("orders");
/// flow.steps = vec![StepShape::new("pay")];
/// let plan = Plan::new(&flow)?;
/// let pay = plan.step(0);
/// assert_eq!(retry_delay(pay, 1, Retry::ByPolicy), Some(10));
/// assert_eq!(retry_delay(pay, 2, Retry::ByPolicy), Some(20));
/// assert_eq!(retry_delay(pay, 3, Retry::ByPolicy), None);
/// assert_eq!(retry_delay(pay, 1, Retry::Never), None);
/// # Ok::<(), pgflow_machine::InvalidShape>(())
/// ```
pub fn retry_delay(step: &PlanStep, counted: u32, retry: Retry) -> Option<u32> {
    if counted >= step.max_attempts {
        return None;
    }
    let seconds = match retry {
        Retry::Never => return None,
        Retry::ByPolicy => back_off(step.base_delay, counted),
        Retry::After(delay) => return Some(whole_seconds(delay)),
    };
    Some(u32::try_from(seconds).unwrap_or(u32::MAX))
}

/// A delay in seconds, rounded up: what fits the integers of every database.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(pgflow_machine::whole_seconds(Duration::from_millis(1001)), 2);
/// ```
pub fn whole_seconds(delay: Duration) -> u32 {
    let seconds = delay.as_secs().saturating_add((delay.subsec_nanos() > 0).into());
    u32::try_from(seconds.min(i32::MAX.unsigned_abs().into())).unwrap_or(u32::MAX)
}

/// In how many seconds work is tried again that has failed before: twice as many each time, and a day at most.
pub(crate) fn back_off(base_delay: u32, counted: u32) -> u64 {
    // 2^17 seconds are more than a day.
    (u64::from(base_delay) << counted.min(17)).min(MAX_DELAY)
}

/// Characters of an error that are kept: long enough for any stack trace, and a failure must always fit.
pub(crate) const MAX_ERROR: usize = 65_536;

/// An error, or the reason of a cancel, as it is stored.
///
/// ```
/// use pgflow_machine::cut_error;
///
/// assert_eq!(cut_error("no answer"), "no answer");
/// assert_eq!(cut_error(&"é".repeat(70_000)).chars().count(), 65_536);
/// ```
pub fn cut_error(error: &str) -> &str {
    let end = error.char_indices().nth(MAX_ERROR).map_or(error.len(), |(at, _)| at);
    &error[..end]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pgflow_model::{FlowShape, StepShape};

    use super::*;
    use crate::Plan;

    fn step(base_delay: u32) -> PlanStep {
        let mut shape = StepShape::new("pay");
        shape.options.base_delay = Some(base_delay);
        shape.options.max_attempts = Some(1000);
        let mut flow = FlowShape::new("orders");
        flow.steps = vec![shape];
        Plan::new(&flow).expect("a flow").step(0).clone()
    }

    #[test]
    fn a_delay_is_a_day_at_most() {
        assert_eq!(retry_delay(&step(1), 16, Retry::ByPolicy), Some(65_536));
        assert_eq!(retry_delay(&step(1), 17, Retry::ByPolicy), Some(86_400));
        assert_eq!(retry_delay(&step(u32::MAX), 999, Retry::ByPolicy), Some(86_400));
        assert_eq!(retry_delay(&step(0), 999, Retry::ByPolicy), Some(0));
    }

    #[test]
    fn a_delay_of_choice_is_rounded_up() {
        let after = |delay| retry_delay(&step(5), 1, Retry::After(delay));
        assert_eq!(after(Duration::ZERO), Some(0));
        assert_eq!(after(Duration::from_millis(1)), Some(1));
        assert_eq!(after(Duration::from_secs(2)), Some(2));
        assert_eq!(after(Duration::MAX), Some(2_147_483_647));
    }

    #[test]
    fn refusals_are_those_of_postgres() {
        use {RunStatus as R, Settled as S, StepStatus as P, TaskStatus as T};
        for (run, step, task, attempt, refusal) in [
            (R::Completed, P::Completed, T::Completed, 2, S::AlreadySettled),
            (R::Failed, P::Completed, T::Completed, 2, S::AlreadySettled),
            (R::Failed, P::Completed, T::Completed, 1, S::RunEnded),
            (R::Started, P::Completed, T::Completed, 1, S::Fenced),
            (R::Cancelled, P::Started, T::Started, 2, S::RunEnded),
            (R::Started, P::Started, T::Queued, 2, S::Fenced),
            (R::Started, P::Started, T::Started, 1, S::Fenced),
            (R::Started, P::Skipped, T::Started, 2, S::AlreadySettled),
            (R::Started, P::Skipped, T::Failed, 2, S::AlreadySettled),
            (R::Started, P::Skipped, T::Failed, 1, S::Fenced),
            (R::Started, P::Skipped, T::Queued, 2, S::Fenced),
        ] {
            let standing = Standing { run, step, task, attempts: 2 };
            assert_eq!(standing.refusal(attempt), refusal, "{standing:?} and attempt {attempt}");
            assert!(!standing.applies(attempt));
        }
    }
}
