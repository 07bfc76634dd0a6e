//! A run that completed.

use std::collections::HashMap;

use crate::check::StepOf;
use crate::{DataError, Flow, RunOutputs};

/// A run that completed in this process.
///
/// ```
/// # use {pgflow::prelude::*, pgflow::testing};
/// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
/// let run = testing::block_on(testing::run(ping::Flow, ()))?;
/// assert_eq!(run.output()?.pong, 1);
/// # Ok::<(), pgflow::Error>(())
/// ```
pub struct FinishedRun<F> {
    pub(super) outputs: RunOutputs<F>,
    pub(super) steps: HashMap<&'static str, StepStatus>,
}

/// How a step ended.
///
/// ```
/// # use {pgflow::prelude::*, pgflow::testing::{self, StepStatus}};
/// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
/// let run = testing::block_on(testing::run(ping::Flow, ()))?;
/// assert_eq!(run.status::<ping::pong>(), StepStatus::Completed { attempts: 1 });
/// # Ok::<(), pgflow::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepStatus {
    /// It has an output.
    Completed {
        /// Calls of its function, over all tasks.
        attempts: u32,
    },
    /// Its condition was not met.
    ConditionUnmet,
    /// Its attempts ran out.
    Exhausted {
        /// Calls of its function, over all tasks.
        attempts: u32,
    },
    /// A step before it was skipped with everything after it.
    DependencySkipped,
}

impl<F: Flow> FinishedRun<F> {
    /// The run's output: that of every step which no other depends on.
    ///
    /// ```
    /// # use {pgflow::prelude::*, pgflow::testing};
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let run = testing::block_on(testing::run(ping::Flow, ()))?;
    /// assert_eq!(run.output()?.pong, 1);
    /// # Ok::<(), pgflow::Error>(())
    /// ```
    pub fn output(&self) -> Result<F::Output, DataError> {
        self.outputs.output()
    }

    /// The output of a step, or `None` if it was skipped.
    ///
    /// ```
    /// # use {pgflow::prelude::*, pgflow::testing};
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let run = testing::block_on(testing::run(ping::Flow, ()))?;
    /// assert_eq!(run.step::<ping::pong>()?, Some(1));
    /// # Ok::<(), pgflow::Error>(())
    /// ```
    pub fn step<S: StepOf<F>>(&self) -> Result<Option<S::Read>, DataError> {
        self.outputs.step::<S>()
    }

    /// How a step ended.
    ///
    /// ```
    /// # use {pgflow::prelude::*, pgflow::testing::{self, StepStatus}};
    /// #[flow(input = bool)]
    /// mod maybe {
    ///     #[step(when_exhausted = skip)]
    ///     pub async fn fail() -> pgflow::Result<u8> { Err("no".into()) }
    /// }
    /// let run = testing::block_on(testing::run(maybe::Flow, true))?;
    /// assert_eq!(run.status::<maybe::fail>(), StepStatus::Exhausted { attempts: 3 });
    /// # Ok::<(), pgflow::Error>(())
    /// ```
    pub fn status<S: StepOf<F>>(&self) -> StepStatus {
        // Every step of a run that completed has one.
        self.steps.get(S::SLUG).copied().unwrap_or(StepStatus::DependencySkipped)
    }
}

impl<F> std::fmt::Debug for FinishedRun<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FinishedRun")
            .field("steps", &self.steps)
            .field("outputs", &self.outputs)
            .finish()
    }
}
