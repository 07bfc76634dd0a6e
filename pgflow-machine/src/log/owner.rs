//! The task that a stream is of.

use crate::{RunStatus, StepStatus, TaskStatus};

/// How the task is doing that a stream is of.
///
/// ```
/// use pgflow_machine::log::Owner;
/// use pgflow_machine::{RunStatus, StepStatus, TaskStatus};
///
/// let (run, step) = (RunStatus::Started, StepStatus::Started);
/// let owner = Owner { run, step, task: Some((TaskStatus::Started, 2)) };
/// assert!(owner.holds(2) && !owner.holds(1));
/// assert!(!owner.is_over());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// What the run is.
    pub run: RunStatus,
    /// What the step is.
    pub step: StepStatus,
    /// What the task is, and how often it was claimed; nothing if there is no such task, or not yet.
    pub task: Option<(TaskStatus, u32)>,
}

impl Owner {
    /// Whether this attempt has the task, and may write.
    pub fn holds(&self, attempt: u32) -> bool {
        self.is_live() && self.task == Some((TaskStatus::Started, attempt))
    }

    /// Whether this attempt has left the task waiting.
    pub fn has_left_waiting(&self, attempt: u32) -> bool {
        self.is_live() && self.task == Some((TaskStatus::Waiting, attempt))
    }

    /// Whether no attempt will have the task any more.
    pub fn is_over(&self) -> bool {
        match self.step {
            StepStatus::Created => self.run != RunStatus::Started,
            _ if !self.is_live() => true,
            _ => !matches!(
                self.task,
                Some((TaskStatus::Queued | TaskStatus::Started | TaskStatus::Waiting, _))
            ),
        }
    }

    /// Whether an attempt has had the task and does not complete it, now that no other one will have it.
    pub fn is_lost(&self) -> bool {
        let has_begun = |(status, attempts)| status != TaskStatus::Completed && attempts > 0;
        self.is_over() && self.task.is_some_and(has_begun)
    }

    fn is_live(&self) -> bool {
        self.run == RunStatus::Started && self.step == StepStatus::Started
    }
}
