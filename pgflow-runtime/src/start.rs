//! A run that is about to start.

use std::marker::PhantomData;

use serde_json::Value;

use crate::{DataError, Flow};

/// A run of the flow `F` that is ready to be started: its input is checked and stored as JSON.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// let start: pgflow::definition::StartRun<count::Flow> = count::Flow::start(&7)?;
/// assert_eq!((start.flow(), start.input()), ("count", &serde_json::json!(7)));
/// # Ok::<(), pgflow::definition::DataError>(())
/// ```
pub struct StartRun<F> {
    input: Value,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> StartRun<F> {
    pub(crate) fn new(input: &F::Input) -> Result<Self, DataError> {
        Ok(Self { input: ((F::KEPT)().write)(input)?, flow: PhantomData })
    }

    /// From JSON of unknown origin: it must have the form of the flow's input.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// use serde_json::json;
    ///
    /// assert!(pgflow::definition::StartRun::<count::Flow>::from_json(json!(7)).is_ok());
    /// assert!(pgflow::definition::StartRun::<count::Flow>::from_json(json!("seven")).is_err());
    /// ```
    pub fn from_json(input: Value) -> Result<Self, DataError> {
        ((F::KEPT)().read)(&input)?;
        Ok(Self { input, flow: PhantomData })
    }

    /// Slug of the flow.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// assert_eq!(ping::Flow::start(&())?.flow(), "ping");
    /// # Ok::<(), pgflow::definition::DataError>(())
    /// ```
    pub fn flow(&self) -> &'static str {
        F::SLUG
    }

    /// The run's input as it will be stored.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// assert!(ping::Flow::start(&())?.input().is_null());
    /// # Ok::<(), pgflow::definition::DataError>(())
    /// ```
    pub fn input(&self) -> &Value {
        &self.input
    }

    /// The run's input, to be stored.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow] mod ping { #[step] pub async fn pong() -> pgflow::Result<u8> { Ok(1) } }
    /// assert!(ping::Flow::start(&())?.into_input().is_null());
    /// # Ok::<(), pgflow::definition::DataError>(())
    /// ```
    pub fn into_input(self) -> Value {
        self.input
    }
}

impl<F: Flow> std::fmt::Debug for StartRun<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StartRun").field("flow", &F::SLUG).field("input", &self.input).finish()
    }
}
