//! One call of a step's function.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use pgflow_machine::wait::HookToken;
use serde_json::Value;

use crate::data_error::DataError;
use crate::kept::kept;
use crate::wait::Wait;
use crate::{Context, Error, States, Step, StepDef};

/// A step's function, behind JSON.
pub(crate) type Call = fn(&Task) -> Result<StepFuture, Error>;

/// What a [`Call`] returns.
pub(crate) type StepFuture = Pin<Box<dyn Future<Output = Result<StepEnd, Error>> + Send>>;

/// How a step's function ended.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub enum StepEnd {
    /// With an output.
    Output(Value),
    /// By waiting for it.
    Waits(Box<Wait>),
}

/// What a step's function is called with: JSON in, JSON out.
///
/// A worker makes one per attempt; tests rarely need it.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn next(run: u8) -> pgflow::Result<u8> { Ok(run + 1) } }
/// use pgflow::{Context, definition::Task};
/// use serde_json::json;
///
/// let task = Task::new(Context::for_test()).with_run(json!(7));
/// let output = pgflow::testing::block_on(task.run(&count::Flow::DEF.steps[0]))?;
/// assert_eq!(output, 8);
/// # Ok::<(), pgflow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Task {
    context: Context,
    states: States,
    run: Arc<Value>,
    outputs: HashMap<Arc<str>, Arc<Value>>,
    item: Arc<Value>,
    hook: Option<HookToken>,
    #[cfg(feature = "engine")]
    tx: crate::tx::TxSlot,
    #[cfg(feature = "engine")]
    outlet: crate::emit::Outlet,
}

impl Task {
    /// A task without data.
    ///
    /// ```
    /// let task = pgflow::definition::Task::new(pgflow::Context::for_test());
    /// assert_eq!(task.context().attempt(), 1);
    /// ```
    pub fn new(context: Context) -> Self {
        let null = Arc::new(Value::Null);
        let states = States::default();
        Self {
            context,
            states,
            run: null.clone(),
            outputs: HashMap::new(),
            item: null,
            hook: None,
            #[cfg(feature = "engine")]
            tx: crate::tx::TxSlot::default(),
            #[cfg(feature = "engine")]
            outlet: crate::emit::Outlet::default(),
        }
    }

    /// The same task with the run's input.
    ///
    /// ```
    /// # use pgflow::{Context, definition::Task};
    /// let task = Task::new(Context::for_test()).with_run(serde_json::json!({ "url": "…" }));
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn with_run(self, run: impl Into<Arc<Value>>) -> Self {
        Self { run: run.into(), ..self }
    }

    /// The same task with the output of a step that it depends on.
    ///
    /// ```
    /// # use pgflow::{Context, definition::Task};
    /// let task = Task::new(Context::for_test()).with_output("fetch", serde_json::json!(1));
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn with_output(mut self, step: impl Into<Arc<str>>, output: impl Into<Arc<Value>>) -> Self {
        self.outputs.insert(step.into(), output.into());
        self
    }

    /// The same task with an element of what its step maps over.
    ///
    /// ```
    /// # use pgflow::{Context, definition::Task};
    /// let task = Task::new(Context::for_test()).with_item(serde_json::json!("an element"));
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn with_item(self, item: impl Into<Arc<Value>>) -> Self {
        Self { item: item.into(), ..self }
    }

    /// The same task with application state.
    ///
    /// ```
    /// # use pgflow::{Context, definition::{States, Task}};
    /// let task = Task::new(Context::for_test()).with_states(States::default().with(5));
    /// # let _ = task;
    /// ```
    #[must_use]
    pub fn with_states(self, states: States) -> Self {
        Self { states, ..self }
    }

    /// The same task with the transaction that records its completion.
    #[cfg(feature = "engine")]
    pub(crate) fn with_tx(self, tx: crate::tx::TxSlot) -> Self {
        Self { tx, ..self }
    }

    /// The transaction, for a step that takes it.
    #[cfg(feature = "engine")]
    pub(crate) fn tx(&self) -> &crate::tx::TxSlot {
        &self.tx
    }

    /// The same task with what its stream is written to.
    #[cfg(feature = "engine")]
    pub(crate) fn with_outlet(self, outlet: crate::emit::Outlet) -> Self {
        Self { outlet, ..self }
    }

    /// What its stream is written to.
    #[cfg(feature = "engine")]
    pub(crate) fn outlet(&self) -> &crate::emit::Outlet {
        &self.outlet
    }

    /// What it knows about its run.
    ///
    /// ```
    /// # use pgflow::{Context, definition::Task};
    /// assert_eq!(Task::new(Context::for_test()).context().index(), 0);
    /// ```
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Calls the step's function and waits for its output.
    ///
    /// ```
    /// # use pgflow::{Context, prelude::*, definition::Task};
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// let task = Task::new(Context::for_test());
    /// assert_eq!(pgflow::testing::block_on(task.run(&ping::Flow::DEF.steps[0]))?, 1);
    /// # Ok::<(), pgflow::Error>(())
    /// ```
    ///
    /// A step that waits is an error: it puts something out only when that is there.
    pub async fn run(&self, step: &StepDef) -> Result<Value, Error> {
        match self.end(step).await? {
            StepEnd::Output(output) => Ok(output),
            StepEnd::Waits(wait) => Err(Error::fatal(format!("the step waits {}", wait.on))),
        }
    }

    /// Calls the step's function, which may end by waiting.
    pub(crate) async fn end(&self, step: &StepDef) -> Result<StepEnd, Error> {
        (step.call)(self)?.await
    }

    /// The same task with the token of its hook.
    pub(crate) fn with_hook(self, token: HookToken) -> Self {
        Self { hook: Some(token), ..self }
    }

    /// The token of its hook.
    pub(crate) fn hook(&self) -> Option<&HookToken> {
        self.hook.as_ref()
    }

    /// The same task, tried again.
    pub(crate) fn at_attempt(&self, attempt: u32) -> Self {
        Self { context: self.context.clone().with_attempt(attempt), ..self.clone() }
    }

    /// The same task for an element of a map.
    pub(crate) fn at_index(self, index: usize) -> Self {
        Self { context: self.context.with_index(index), ..self }
    }

    pub(crate) fn states(&self) -> &States {
        &self.states
    }

    pub(crate) fn run_input(&self) -> &Value {
        &self.run
    }

    /// The output of a step this one depends on.
    pub(crate) fn output<S: Step>(&self) -> Result<S::Output, Error> {
        let missing = || DataError::Missing { step: S::SLUG.to_owned() };
        self.optional_output::<S>()?.ok_or_else(|| Error::fatal(missing()))
    }

    /// The output of a step this one depends on, unless it was skipped.
    pub(crate) fn optional_output<S: Step>(&self) -> Result<Option<S::Output>, Error> {
        let output = self.outputs.get(S::SLUG).map(|json| (kept::<S>().read)(json));
        // The same JSON would be read the same way next time.
        output.transpose().map_err(Error::fatal)
    }

    /// An element of the sequence this step maps over.
    #[doc(hidden)]
    pub fn item<T>(&self, read: fn(&Value) -> Result<T, DataError>) -> Result<T, Error> {
        read(&self.item).map_err(Error::fatal)
    }
}
