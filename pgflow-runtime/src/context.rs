//! What a step knows about the run it is part of.

use std::sync::Arc;

use crate::cancel::{Cancel, Cancelled};

/// Handed to any step that has a parameter called `ctx`.
///
/// ```
/// use pgflow::prelude::*;
///
/// #[flow]
/// mod ping {
///     use pgflow::prelude::*;
///
///     #[step]
///     pub async fn pong(ctx: Context) -> Result<u32> {
///         Ok(ctx.attempt())
///     }
/// }
///
/// let first = pgflow::testing::block_on(ping::pong(Context::for_test()));
/// assert_eq!(first?, 1);
/// # Ok::<(), pgflow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    run_id: Arc<str>,
    flow: &'static str,
    step: &'static str,
    index: usize,
    attempt: u32,
    cancel: Cancel,
}

impl Context {
    /// The context of the first attempt at a task.
    pub(crate) fn new(run_id: Arc<str>, flow: &'static str, step: &'static str) -> Self {
        Self { run_id, flow, step, index: 0, attempt: 1, cancel: Cancel::default() }
    }

    /// The same context, told to stop by `cancel`.
    #[cfg(feature = "engine")]
    pub(crate) fn with_cancel(self, cancel: Cancel) -> Self {
        Self { cancel, ..self }
    }

    /// A context to call a step with in a unit test.
    ///
    /// ```
    /// assert_eq!(pgflow::Context::for_test().run_id(), "test");
    /// ```
    pub fn for_test() -> Self {
        Self::new(Arc::from("test"), "test", "test")
    }

    /// The same context at another attempt, from 1.
    ///
    /// ```
    /// assert_eq!(pgflow::Context::for_test().with_attempt(2).attempt(), 2);
    /// ```
    #[must_use]
    pub fn with_attempt(self, attempt: u32) -> Self {
        Self { attempt, ..self }
    }

    /// The same context for another element of a map, from 0.
    ///
    /// ```
    /// assert_eq!(pgflow::Context::for_test().with_index(5).index(), 5);
    /// ```
    #[must_use]
    pub fn with_index(self, index: usize) -> Self {
        Self { index, ..self }
    }

    /// Identifies the run.
    ///
    /// ```
    /// assert_eq!(pgflow::Context::for_test().run_id(), "test");
    /// ```
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Slug of the flow.
    ///
    /// ```
    /// assert_eq!(pgflow::Context::for_test().flow(), "test");
    /// ```
    pub fn flow(&self) -> &'static str {
        self.flow
    }

    /// Slug of the step.
    ///
    /// ```
    /// assert_eq!(pgflow::Context::for_test().step(), "test");
    /// ```
    pub fn step(&self) -> &'static str {
        self.step
    }

    /// Position of this task's element in what the step maps over; 0 if it is not a map step.
    ///
    /// ```
    /// assert_eq!(pgflow::Context::for_test().index(), 0);
    /// ```
    pub fn index(&self) -> usize {
        self.index
    }

    /// Which attempt this is, from 1.
    ///
    /// ```
    /// assert_eq!(pgflow::Context::for_test().attempt(), 1);
    /// ```
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Whether this attempt should stop: its run was cancelled or failed, another worker has the task, its
    /// time is over, or the worker shuts down. A handler that goes on is aborted a moment later.
    ///
    /// ```
    /// assert!(!pgflow::Context::for_test().is_cancelled());
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_set()
    }

    /// Ready once this attempt [should stop](Self::is_cancelled): for a handler that has something to tidy
    /// up.
    ///
    /// ```
    /// use pgflow::prelude::*;
    ///
    /// #[flow]
    /// mod poll {
    ///     use pgflow::prelude::*;
    ///
    ///     #[step]
    ///     pub async fn watch(ctx: Context) -> Result<u8> {
    ///         ctx.cancelled().await;
    ///         Err("told to stop".into())
    ///     }
    /// }
    /// ```
    pub fn cancelled(&self) -> Cancelled {
        self.cancel.wait()
    }
}
